import { Button, Group, Text } from '@mantine/core';
import type { AccessToken } from '../../../api/accessTokens';
import { isTime } from '../../../format/time';
import type { Column } from '../../../shared/DataTable';
import { RelativeTime } from '../../../shared/RelativeTime';
import { ToneBadge } from '../../../shared/ToneBadge';
import { useNow } from '../../../shared/useNow';
import { texts } from '../../../texts';

const words = texts.profile.accessTokens;

export function accessTokenColumns(onRevoke: (token: AccessToken) => void): Column<AccessToken>[] {
  return [
    {
      key: 'name',
      header: words.name,
      place: 'title',
      cell: ({ name }) => (
        <Text inherit fw={600} style={{ overflowWrap: 'anywhere' }}>
          {name}
        </Text>
      ),
    },
    { key: 'created', header: words.created, cell: (token) => <RelativeTime seconds={token.created_time} /> },
    {
      key: 'lastUsed',
      header: words.lastUsed,
      cell: (token) => <RelativeTime seconds={token.last_used_time} never={words.notYet} />,
    },
    { key: 'expires', header: words.expires, cell: (token) => <Expiry seconds={token.expires_at} /> },
    {
      key: 'actions',
      align: 'right',
      place: 'actions',
      cell: (token) => (
        <Button
          variant="subtle"
          color="red"
          size="compact-sm"
          aria-label={words.revokeOne(token.name)}
          onClick={() => onRevoke(token)}
        >
          {words.revoke}
        </Button>
      ),
    },
  ];
}

function Expiry({ seconds }: { seconds: number }) {
  const now = useNow();
  const isOver = isTime(seconds) && seconds <= now;
  return (
    <Group gap="xs">
      <RelativeTime seconds={seconds} />
      {isOver && <ToneBadge tone="warn">{words.expired}</ToneBadge>}
    </Group>
  );
}
