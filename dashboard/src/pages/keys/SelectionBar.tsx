import { ActionIcon, Button, Group, Paper, Text, Tooltip } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import { formatInteger } from '../../format/locale';
import { texts } from '../../texts';
import { hasQuota } from './actions/hasQuota';
import type { KeyActions } from './actions/useKeyActions';
import classes from './SelectionBar.module.css';
import type { Selection } from './useSelection';

const words = texts.keys.selection;

/** Actions on the selected keys. It floats, so that the page does not move when it appears. */
export function SelectionBar({ selection, actions }: { selection: Selection; actions: KeyActions }) {
  const { tokens, elsewhere, clear } = selection;
  if (tokens.length === 0) return null;

  async function enable() {
    if (await actions.enableAll(tokens)) clear();
  }

  function disable() {
    const [first, ...others] = tokens;
    if (!first) return;
    if (others.length > 0) return actions.disableAll(tokens);
    actions.setSwitch([first], false);
    clear();
  }

  return (
    <Paper className={classes.bar} shadow="md" role="region" aria-label={words.label}>
      <Text size="sm" fw={600} aria-live="polite">
        {words.count(formatInteger(tokens.length))}
        {elsewhere > 0 && (
          <Text span inherit fw={400} c="dimmed">
            {' · '}
            {words.elsewhere(formatInteger(elsewhere))}
          </Text>
        )}
      </Text>
      <Group gap="xs">
        <Button size="xs" variant="default" onClick={enable}>
          {words.enable}
        </Button>
        <Button size="xs" variant="default" onClick={disable}>
          {words.disable}
        </Button>
        {tokens.some(hasQuota) && (
          <Button size="xs" variant="default" onClick={() => actions.addQuota(tokens)}>
            {words.addQuota}
          </Button>
        )}
        <Button size="xs" variant="light" color="red" onClick={() => actions.remove(tokens)}>
          {words.delete}
        </Button>
        <Tooltip label={words.clear}>
          <ActionIcon aria-label={words.clear} onClick={clear}>
            <IconX size={18} />
          </ActionIcon>
        </Tooltip>
      </Group>
    </Paper>
  );
}
