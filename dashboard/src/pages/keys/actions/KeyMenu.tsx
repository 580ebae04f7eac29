import { ActionIcon, Menu } from '@mantine/core';
import {
  IconArrowUpRight,
  IconCopy,
  IconCopyPlus,
  IconDots,
  IconEye,
  IconPencil,
  IconPower,
  IconRefresh,
  IconTrash,
} from '@tabler/icons-react';
import { useRef } from 'react';
import { Link } from 'wouter';
import { useUser } from '../../../api/session';
import { isSwitchedOn, lockedBy } from '../../../api/tokenSwitch';
import type { Token } from '../../../api/tokens';
import { texts } from '../../../texts';
import type { KeyActions } from './useKeyActions';

interface Props {
  token: Token;
  actions: KeyActions;
  /** The page of the key has no Open item, and Edit is a button. */
  onOwnPage?: boolean;
}

const words = texts.keys.menu;
const icon = { size: 18, stroke: 1.6 };

export function KeyMenu({ token, actions, onOwnPage }: Props) {
  const target = useRef<HTMLButtonElement>(null);
  const on = isSwitchedOn(token);
  const locked = lockedBy(useUser(), token);

  /** Focuses the menu button first: a closing dialog returns the focus to it, and the menu item no longer exists. */
  function act(action: () => void) {
    return () => {
      target.current?.focus();
      action();
    };
  }

  return (
    <Menu position="bottom-end" withinPortal withInitialFocusPlaceholder={false}>
      <Menu.Target>
        <ActionIcon
          ref={target}
          aria-label={words.label(token.name)}
          variant={onOwnPage ? 'default' : 'subtle'}
          size={onOwnPage ? 36 : 'lg'}
        >
          <IconDots size={20} stroke={1.6} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {!onOwnPage && (
          <>
            <Menu.Item
              component={Link}
              href={`/keys/${token.id}`}
              leftSection={<IconArrowUpRight {...icon} />}
            >
              {words.open}
            </Menu.Item>
            <Menu.Item leftSection={<IconPencil {...icon} />} onClick={act(() => actions.edit(token))}>
              {words.edit}
            </Menu.Item>
          </>
        )}
        <Menu.Item leftSection={<IconCopyPlus {...icon} />} onClick={act(() => actions.duplicate(token))}>
          {words.duplicate}
        </Menu.Item>
        {locked ? (
          <Menu.Label>{texts.common.disabledBy[locked]}</Menu.Label>
        ) : (
          <Menu.Item
            leftSection={<IconPower {...icon} />}
            onClick={act(() => actions.setSwitch([token], !on))}
          >
            {on ? words.disable : words.enable}
          </Menu.Item>
        )}
        <Menu.Divider />
        <Menu.Label>{words.audited}</Menu.Label>
        <Menu.Item leftSection={<IconCopy {...icon} />} onClick={act(() => actions.copyKey(token))}>
          {words.copyKey}
        </Menu.Item>
        <Menu.Item leftSection={<IconEye {...icon} />} onClick={act(() => actions.revealKey(token))}>
          {words.revealKey}
        </Menu.Item>
        <Menu.Item leftSection={<IconRefresh {...icon} />} onClick={act(() => actions.replaceKey(token))}>
          {words.replaceKey}
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item
          c="var(--km-bad)"
          leftSection={<IconTrash {...icon} />}
          onClick={act(() => actions.remove([token]))}
        >
          {words.delete}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
