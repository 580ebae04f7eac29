import { Button, Text, Tooltip } from '@mantine/core';
import type { OldKey } from '../../../api/oldKeys';
import { formatDateTime } from '../../../format/time';
import type { Column } from '../../../shared/DataTable';
import { RelativeTime } from '../../../shared/RelativeTime';
import { useNow } from '../../../shared/useNow';
import { texts } from '../../../texts';
import { endText } from './endText';

const words = texts.key.oldKeys;

const common: Column<OldKey>[] = [
  {
    key: 'key',
    header: words.key,
    place: 'title',
    cell: ({ masked_key }) => (
      <Text ff="monospace" size="sm">
        {masked_key}
      </Text>
    ),
  },
  {
    key: 'replaced',
    header: words.replaced,
    cell: ({ rotated_at }) => <RelativeTime seconds={rotated_at} />,
  },
  {
    key: 'used',
    header: words.lastUsed,
    cell: ({ last_used_at }) => <RelativeTime seconds={last_used_at} never={words.notUsed} />,
  },
];

export function workingColumns(onEnd: (oldKey: OldKey) => void): Column<OldKey>[] {
  return [
    ...common,
    { key: 'status', header: words.status, cell: (oldKey) => <End oldKey={oldKey} /> },
    {
      key: 'actions',
      align: 'right',
      place: 'actions',
      cell: (oldKey) => (
        <Button
          variant="subtle"
          color="red"
          size="compact-sm"
          aria-label={words.endOne(oldKey.masked_key)}
          onClick={() => onEnd(oldKey)}
        >
          {words.end}
        </Button>
      ),
    },
  ];
}

export const endedColumns: Column<OldKey>[] = [
  ...common,
  { key: 'ended', header: words.ended, cell: ({ expires_at }) => <RelativeTime seconds={expires_at} /> },
];

/** How long a key still works. The tooltip shows until when. */
function End({ oldKey }: { oldKey: OldKey }) {
  const text = endText(oldKey, useNow());
  if (oldKey.expires_at == null) return text;
  return (
    <Tooltip label={formatDateTime(oldKey.expires_at)}>
      <span>{text}</span>
    </Tooltip>
  );
}
