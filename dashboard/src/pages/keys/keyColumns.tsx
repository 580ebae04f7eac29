import { Anchor, Group, Text } from '@mantine/core';
import { Link } from 'wouter';
import type { Token } from '../../api/tokens';
import type { Column } from '../../shared/DataTable';
import { ImportedBadge } from '../../shared/ImportedBadge';
import { RelativeTime } from '../../shared/RelativeTime';
import { selectColumn } from '../../shared/selection/selectColumn';
import type { Selection } from '../../shared/selection/useSelection';
import { TokenSwitch } from '../../shared/TokenSwitch';
import { quotaColumn, sortBy, statusColumn, type TokenSorting } from '../../shared/tokenColumns';
import { texts } from '../../texts';
import { KeyMenu } from './actions/KeyMenu';
import type { KeyActions } from './actions/useKeyActions';
import { groupName } from './groupName';
import classes from './keyColumns.module.css';

const words = texts.keys;

export function keyColumns(
  actions: KeyActions,
  selection: Selection<Token>,
  sorting: TokenSorting,
): Column<Token>[] {
  return [
    selectColumn(selection, words.select, ({ name }) => name),
    {
      key: 'name',
      place: 'title',
      header: words.columns.name,
      sort: sortBy(sorting, 'name', 'name_desc'),
      cell: (token) => (
        <>
          <Anchor component={Link} href={`/keys/${token.id}`} size="sm" fw={600} className={classes.name}>
            {token.name}
          </Anchor>
          <Text className={classes.masked}>{token.masked_key}</Text>
          <ImportedBadge token={token} />
          {token.note !== '' && (
            <Text size="xs" c="dimmed" maw={280} lineClamp={1} className={classes.note}>
              {token.note}
            </Text>
          )}
        </>
      ),
    },
    statusColumn(words.columns.status),
    quotaColumn(words.columns.quota, sortBy(sorting, 'least_left', 'most_left')),
    {
      key: 'expires',
      header: words.columns.expires,
      sort: sortBy(sorting, 'expires_first', 'expires_last'),
      cell: (token) => <RelativeTime size="sm" seconds={token.expired_time} />,
    },
    {
      key: 'group',
      header: words.columns.group,
      onlyIf: (tokens) => tokens.some(({ group }) => group !== ''),
      cell: (token) => <Text size="sm">{groupName(token.group)}</Text>,
    },
    {
      key: 'lastUsed',
      header: words.columns.lastUsed,
      sort: sortBy(sorting, 'last_used', 'longest_unused'),
      // Before the first use, `accessed_time` is the time of creation.
      cell: (token) => (
        <RelativeTime
          size="sm"
          seconds={token.used_quota > 0 ? token.accessed_time : 0}
          never={words.notYet}
        />
      ),
    },
    {
      key: 'actions',
      place: 'actions',
      align: 'right',
      width: 104,
      cell: (token) => (
        <Group gap="xs" wrap="nowrap" justify="flex-end">
          <TokenSwitch
            aria-label={words.switch(token.name)}
            token={token}
            onSwitch={(on) => actions.setSwitch([token], on)}
          />
          <KeyMenu token={token} actions={actions} />
        </Group>
      ),
    },
  ];
}
