import { Button, Text } from '@mantine/core';
import type { Token } from '../../api/tokens';
import type { Column } from '../../shared/DataTable';
import { When } from '../../shared/When';
import { texts } from '../../texts';

const words = texts.deletedKeys;

export function deletedKeyColumns(
  onRestore: (token: Token) => void,
  restoring: Token | undefined,
): Column<Token>[] {
  return [
    {
      key: 'name',
      place: 'title',
      header: words.columns.name,
      cell: ({ name, masked_key }) => (
        <>
          <Text size="sm" fw={600} style={{ overflowWrap: 'anywhere' }}>
            {name}
          </Text>
          <Text size="sm" c="dimmed" ff="monospace">
            {masked_key}
          </Text>
        </>
      ),
    },
    {
      key: 'deleted',
      header: words.columns.deleted,
      cell: ({ deleted_time }) => <When seconds={deleted_time} />,
    },
    {
      key: 'until',
      header: words.columns.until,
      cell: ({ restorable_until }) => <When seconds={restorable_until} />,
    },
    {
      key: 'actions',
      align: 'right',
      place: 'actions',
      cell: (token) => (
        <Button
          variant="default"
          size="xs"
          aria-label={words.restoreOne(token.name)}
          loading={restoring?.id === token.id}
          disabled={restoring !== undefined}
          onClick={() => onRestore(token)}
        >
          {words.restore}
        </Button>
      ),
    },
  ];
}
