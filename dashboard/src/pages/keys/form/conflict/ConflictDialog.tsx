import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useContext, useEffect } from 'react';
import type { Token } from '../../../../api/tokens';
import { type Column, DataTable } from '../../../../shared/DataTable';
import { DiscardContext } from '../../../../shared/form/discard';
import { useBackCloses } from '../../../../shared/useBackCloses';
import { useLastDefined } from '../../../../shared/useLastDefined';
import { texts } from '../../../../texts';
import { useOtherOwner } from '../owner';
import type { Difference } from './differences';
import { valueText } from './valueText';

interface Props {
  /** The dialog is open while this is defined. */
  differing: Difference[] | undefined;
  onKeepTheirs: () => void;
  onSaveMine: () => void;
  /** Back to the form, with what was typed. */
  onClose: () => void;
}

const words = texts.keys.form.conflict;

const columns: Column<Difference>[] = [
  {
    key: 'field',
    header: words.field,
    place: 'title',
    cell: ({ name }) => (
      <Text size="sm" fw={600}>
        {texts.keys.fields[name].label}
      </Text>
    ),
  },
  { key: 'theirs', header: words.theirs, cell: ({ name, theirs }) => <Value name={name} token={theirs} /> },
  {
    key: 'mine',
    header: words.mine,
    cell: ({ name, mine }) =>
      mine ? (
        <Value name={name} token={mine} />
      ) : (
        <Text size="sm" c="dimmed">
          {words.notMine}
        </Text>
      ),
  },
];

/** Somebody else changed the key while its form was open: shows both, and asks which to keep. */
export function ConflictDialog({ differing, onKeepTheirs, onSaveMine, onClose }: Props) {
  const opened = differing !== undefined;
  const shown = useLastDefined(differing);
  const setNested = useContext(DiscardContext)?.setNested;
  useEffect(() => {
    if (!opened) return;
    setNested?.(true);
    // After the event: Esc would close the form, too.
    return () => void setTimeout(() => setNested?.(false));
  }, [opened, setNested]);

  useBackCloses(opened, onClose);
  return (
    <Modal opened={opened} onClose={onClose} title={words.title} size="lg">
      <Stack>
        <Text>{words.explanation}</Text>
        <DataTable
          label={words.table}
          columns={columns}
          rows={shown ?? []}
          rowKey={({ name }) => name}
          empty=""
        />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} data-autofocus>
            {texts.common.discard.keep}
          </Button>
          <Button variant="default" onClick={onKeepTheirs}>
            {words.keepTheirs}
          </Button>
          <Button onClick={onSaveMine}>{words.saveMine}</Button>
        </Group>
      </Stack>
    </Modal>
  );
}

function Value({ name, token }: Pick<Difference, 'name'> & { token: Token }) {
  const other = useOtherOwner();
  const isOwnersGroup = other !== undefined && name === 'group' && token.group === '';
  return (
    <Text size="sm" style={{ whiteSpace: 'pre-line', overflowWrap: 'anywhere' }}>
      {isOwnersGroup ? texts.key.facts.ownersGroup : valueText(name, token)}
    </Text>
  );
}
