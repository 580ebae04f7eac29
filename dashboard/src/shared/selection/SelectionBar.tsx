import { ActionIcon, Button, Group, Paper, Text, Tooltip } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { formatInteger } from '../../format/locale';
import { texts } from '../../texts';
import classes from './SelectionBar.module.css';
import type { Selection } from './useSelection';

const words = texts.common.selection;

interface Props<Row> {
  label: string;
  selection: Selection<Row>;
  /** The buttons. */
  children: ReactNode;
}

/** Actions on the selected rows. It floats, so that the page does not move when it appears. */
export function SelectionBar<Row>({ label, selection, children }: Props<Row>) {
  const { count, allMatching, offered, elsewhere, clear } = selection;
  if (count === 0) return null;
  return (
    <Paper className={classes.bar} shadow="md" role="region" aria-label={label}>
      <Group gap="xs">
        <Text size="sm" fw={600} aria-live="polite">
          {(allMatching ? words.all : words.count)(formatInteger(count))}
          {elsewhere > 0 && (
            <Text span inherit fw={400} c="dimmed">
              {' · '}
              {words.elsewhere(formatInteger(elsewhere))}
            </Text>
          )}
        </Text>
        {offered !== undefined && (
          <Button size="compact-sm" variant="subtle" onClick={selection.selectMatching}>
            {words.selectAll(formatInteger(offered))}
          </Button>
        )}
      </Group>
      <Group gap="xs">
        {children}
        <Tooltip label={words.clear}>
          <ActionIcon aria-label={words.clear} onClick={clear}>
            <IconX size={18} />
          </ActionIcon>
        </Tooltip>
      </Group>
    </Paper>
  );
}
