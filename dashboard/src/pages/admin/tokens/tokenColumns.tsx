import { ActionIcon, Group, Text, Tooltip } from '@mantine/core';
import { IconHistory } from '@tabler/icons-react';
import { Link } from 'wouter';
import type { OwnedToken } from '../../../api/adminTokens';
import type { Token } from '../../../api/tokens';
import type { Column } from '../../../shared/DataTable';
import { ImportedBadge } from '../../../shared/ImportedBadge';
import { listHref } from '../../../shared/listQuery';
import { RelativeTime } from '../../../shared/RelativeTime';
import { quotaColumn, sortBy, statusColumn, type TokenSorting } from '../../../shared/tokenColumns';
import { texts } from '../../../texts';
import { TokenLink, UserLink } from '../shared/links';
import { AdminTokenSwitch } from './AdminTokenSwitch';

const words = texts.adminTokens;

/** `sorting` makes the headers sort. */
export const tokenColumns = (sorting?: TokenSorting): Column<OwnedToken>[] => [
  {
    key: 'name',
    header: words.columns.name,
    sort: sorting && sortBy(sorting, 'name', 'name_desc'),
    place: 'title',
    cell: (token) => (
      <>
        <TokenLink id={token.id} name={token.name} fw={600} />
        <Text ff="monospace" fz={12} c="dimmed" style={{ whiteSpace: 'nowrap' }}>
          {token.masked_key}
        </Text>
        <ImportedBadge token={token} />
      </>
    ),
  },
  {
    key: 'owner',
    header: words.columns.owner,
    cell: (token) => <UserLink id={token.user_id} name={token.username} />,
  },
  statusColumn(words.columns.status),
  quotaColumn(words.columns.quota, sorting && sortBy(sorting, 'least_left', 'most_left')),
  {
    key: 'expires',
    header: words.columns.expires,
    sort: sorting && sortBy(sorting, 'expires_first', 'expires_last'),
    cell: (token) => <RelativeTime seconds={token.expired_time} />,
  },
  {
    key: 'last used',
    header: words.columns.lastUsed,
    sort: sorting && sortBy(sorting, 'last_used', 'longest_unused'),
    cell: (token) => <LastUsed token={token} />,
  },
  {
    key: 'actions',
    place: 'actions',
    align: 'right',
    cell: (token) => (
      <Group gap="xs" wrap="nowrap" justify="flex-end">
        <AuditLink token={token} />
        <AdminTokenSwitch aria-label={words.switch(token.name)} token={token} />
      </Group>
    ),
  },
];

/** Before the first charge, `accessed_time` is the time of creation. */
function LastUsed({ token }: { token: Token }) {
  const isUsed = token.accessed_time > token.created_time;
  return <RelativeTime seconds={isUsed ? token.accessed_time : undefined} never={words.neverUsed} />;
}

function AuditLink({ token }: { token: Token }) {
  return (
    <Tooltip label={words.audit(token.name)}>
      <ActionIcon
        component={Link}
        href={listHref('/admin/audit', { subject_kind: 'token', subject_id: token.id })}
        aria-label={words.audit(token.name)}
      >
        <IconHistory size={18} stroke={1.6} />
      </ActionIcon>
    </Tooltip>
  );
}
