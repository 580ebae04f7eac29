import { ActionIcon, UnstyledButton } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { texts } from '../../texts';
import { Keys } from './Keys';
import classes from './SearchButton.module.css';
import { PALETTE_KEYS } from './shortcut';

const words = texts.commands;

/** Opens the palette. On phones it is an icon. */
export function SearchButton({ onClick }: { onClick: () => void }) {
  return (
    <>
      <UnstyledButton
        visibleFrom="sm"
        className={classes.button}
        aria-keyshortcuts="Control+K Meta+K"
        onClick={onClick}
      >
        <IconSearch size={16} stroke={1.6} />
        <span className={classes.label}>{words.search}</span>
        <span aria-hidden>
          <Keys keys={PALETTE_KEYS} />
        </span>
      </UnstyledButton>
      <ActionIcon hiddenFrom="sm" aria-label={words.search} onClick={onClick}>
        <IconSearch size={20} stroke={1.6} />
      </ActionIcon>
    </>
  );
}
