import { Modal, Stack, Switch } from '@mantine/core';
import { texts } from '../../texts';
import { Keys } from './Keys';
import classes from './ShortcutsHelp.module.css';
import { PALETTE_KEYS, UNDO_KEYS } from './shortcut';
import { setSingleKeys, useSingleKeys } from './singleKeys';
import type { CommandDialogProps } from './useCommands';

const words = texts.commands.shortcuts;

const shortcuts = [
  { name: words.palette, keys: PALETTE_KEYS },
  { name: words.search, keys: ['/'] },
  { name: words.create, keys: ['C'] },
  { name: words.undo, keys: UNDO_KEYS },
  { name: words.help, keys: ['?'] },
  { name: words.close, keys: ['Esc'] },
];

/** All shortcuts. Those of a single key can be turned off. */
export default function ShortcutsHelp({ opened, onClose }: CommandDialogProps) {
  const singleKeys = useSingleKeys();
  return (
    <Modal opened={opened} onClose={onClose} title={words.title} returnFocus={false}>
      <Stack gap="lg">
        <dl className={classes.list}>
          {shortcuts.map(({ name, keys }) => (
            <div key={name} className={classes.line}>
              <dt>{name}</dt>
              <dd>
                <Keys keys={keys} />
              </dd>
            </div>
          ))}
        </dl>
        <Switch
          label={words.singleKeys}
          description={words.singleKeysHint}
          checked={singleKeys}
          onChange={(event) => setSingleKeys(event.currentTarget.checked)}
        />
      </Stack>
    </Modal>
  );
}
