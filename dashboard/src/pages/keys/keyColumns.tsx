import { Anchor, Checkbox, Group, Text } from '@mantine/core';
import type { ChangeEvent } from 'react';
import { Link } from 'wouter';
import { directionOf, type Sorting } from '../../api/tokenListing';
import type { Token } from '../../api/tokens';
import type { Column } from '../../shared/DataTable';
import { ImportedBadge } from '../../shared/ImportedBadge';
import { RelativeTime } from '../../shared/RelativeTime';
import type { ColumnSort } from '../../shared/SortHeader';
import { TokenSwitch } from '../../shared/TokenSwitch';
import { quotaColumn, statusColumn } from '../../shared/tokenColumns';
import { texts } from '../../texts';
import { KeyMenu } from './actions/KeyMenu';
import type { KeyActions } from './actions/useKeyActions';
import { groupName } from './groupName';
import classes from './keyColumns.module.css';
import type { ChangeView, KeysView } from './useKeysView';
import type { Selection } from './useSelection';

const words = texts.keys;

export function keyColumns(
  actions: KeyActions,
  selection: Selection,
  view: KeysView,
  onChange: ChangeView,
): Column<Token>[] {
  /** Sorts in the first order, or in the second if it is sorted in the first. */
  function sortBy(first: Sorting, second: Sorting): ColumnSort {
    return {
      direction: directionOf(view.sorting, [first, second]),
      onSort: () => onChange({ sorting: view.sorting === first ? second : first }),
    };
  }

  return [
    {
      key: 'select',
      place: 'select',
      width: 44,
      header: <SelectAll selection={selection} />,
      cell: (token) => (
        <Checkbox
          aria-label={words.select.one(token.name)}
          checked={selection.has(token)}
          onChange={(event) => selection.toggle(token, isWithShift(event))}
        />
      ),
    },
    {
      key: 'name',
      place: 'title',
      header: words.columns.name,
      sort: sortBy('name', 'name_desc'),
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
    quotaColumn(words.columns.quota, sortBy('least_left', 'most_left')),
    {
      key: 'expires',
      header: words.columns.expires,
      sort: sortBy('expires_first', 'expires_last'),
      cell: (token) => <RelativeTime size="sm" className={classes.when} seconds={token.expired_time} />,
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
      sort: sortBy('last_used', 'longest_unused'),
      // Before the first use, `accessed_time` is the time of creation.
      cell: (token) => (
        <RelativeTime
          size="sm"
          className={classes.when}
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

export function SelectAll({ selection, label }: { selection: Selection; label?: string }) {
  return (
    <Checkbox
      label={label}
      aria-label={label === undefined ? words.select.page : undefined}
      disabled={selection.nothingShown}
      checked={selection.all}
      indeterminate={selection.some && !selection.all}
      onChange={selection.toggleAll}
    />
  );
}

/** React reports the click on a checkbox as its change. */
function isWithShift({ nativeEvent }: ChangeEvent): boolean {
  return nativeEvent instanceof MouseEvent && nativeEvent.shiftKey;
}
