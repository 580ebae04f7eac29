import { Group, Text } from '@mantine/core';
import { IconKey } from '@tabler/icons-react';
import { useEffect } from 'react';
import type { TokenFilter } from '../../../api/chosenTokens';
import { limits } from '../../../api/serverLimits';
import { DEFAULT_SORTING, readSorting, readState } from '../../../api/tokenListing';
import { EmptyState } from '../../../shared/EmptyState';
import { SortSelect, StateSelect } from '../../../shared/ListingFields';
import { mayBeSecret } from '../../../shared/mayBeSecret';
import { NoMatches } from '../../../shared/NoMatches';
import { PageHeader } from '../../../shared/PageHeader';
import { useSecretText } from '../../../shared/search/handOver';
import { OtherLists } from '../../../shared/search/OtherLists';
import { SelectAll, selectColumn } from '../../../shared/selection/selectColumn';
import { useSelection } from '../../../shared/selection/useSelection';
import type { TokenSorting } from '../../../shared/tokenColumns';
import { useListQuery } from '../../../shared/useListQuery';
import { texts } from '../../../texts';
import { AUTO, OWN } from '../../keys/groupName';
import { AnyGroupFilter } from '../shared/AnyGroupFilter';
import { tokenHref } from '../shared/links';
import { PagedTable } from '../shared/PagedTable';
import { UserSelect } from '../shared/UserSelect';
import { useAllKeys } from '../shared/useAllKeys';
import { useListPageSize } from '../shared/useListPageSize';
import { AnyKeysBar } from './AnyKeysBar';
import { KeySearch } from './KeySearch';
import { tokenColumns } from './tokenColumns';

const words = texts.adminTokens;
const noFilter = { keyword: '', user_id: '', state: '', group: '' };

/** Keys that name no group of the settings. */
const otherGroups = [
  { value: OWN, label: texts.keys.many.ownersGroup },
  { value: AUTO, label: texts.keys.autoGroup },
];

export default function TokensPage() {
  const list = useListQuery(['keyword', 'user_id', 'state', 'group', 'sort']);
  const { filters, page, setFilters, setPage } = list;
  const sizes = useListPageSize('keymeter-all-keys-per-page', list);
  // Not in the URL, which is written to histories and logs.
  const [key, setKey] = useSecretText();
  const text = key || filters.keyword;
  const state = readState(filters.state);
  const order: TokenSorting = {
    sorting: readSorting(filters.sort),
    onSort: (sorting) => setFilters({ sort: sorting === DEFAULT_SORTING ? '' : sorting }),
  };
  const group = filters.group || undefined;
  const listing = { state, group, sorting: order.sorting };
  const search = { userId: filters.user_id, listing, page, size: sizes.size };
  const { query: tokens, isByKey } = useAllKeys(text, search);
  const { total = 0, truncated = false } = tokens.data ?? {};
  const canSelectAll = !isByKey && !truncated && total <= limits.listed_tokens;
  const filter: TokenFilter = { keyword: filters.keyword || undefined, state, group };
  const userId = filters.user_id === '' ? undefined : Number(filters.user_id);
  const matching = canSelectAll
    ? { key: JSON.stringify([filter, userId]), total, isOutdated: tokens.isPlaceholderData }
    : undefined;
  const selection = useSelection(tokens.data?.items ?? [], matching);
  const isFiltered = Boolean(text || filters.user_id || state || group);

  function searchFor(typed: string) {
    const isSecret = mayBeSecret(typed);
    setKey(isSecret ? typed : '');
    setFilters({ keyword: isSecret ? '' : typed });
  }

  // A key that someone put into the URL leaves it.
  const isExposed = mayBeSecret(filters.keyword);
  useEffect(() => {
    if (isExposed) searchFor(filters.keyword);
  });

  function clear() {
    setKey('');
    setFilters(noFilter);
  }

  return (
    <>
      <PageHeader title={words.title} description={words.description} />
      <Group mb="md" gap="sm" align="flex-start">
        <KeySearch text={text} onSearch={searchFor} />
        <UserSelect
          aria-label={words.owner}
          placeholder={words.allOwners}
          w={{ base: '100%', sm: 220 }}
          value={filters.user_id}
          onChange={(user_id) => setFilters({ user_id })}
        />
        <StateSelect state={state} onChange={(chosen = '') => setFilters({ state: chosen })} />
        <AnyGroupFilter
          group={filters.group}
          others={otherGroups}
          onChange={(chosen) => setFilters({ group: chosen })}
        />
      </Group>
      <OtherLists current="all" text={text} />
      {tokens.data?.truncated && (
        <Text size="sm" c="dimmed" mb="sm">
          {words.truncated}
        </Text>
      )}
      <PagedTable
        label={words.title}
        columns={[selectColumn(selection, texts.keys.select, ({ name }) => name), ...tokenColumns(order)]}
        cardsHeader={
          <Group px="md" mb="sm" justify="space-between">
            <SelectAll selection={selection} label={texts.keys.select.page} />
            <SortSelect {...order} />
          </Group>
        }
        query={tokens}
        rowKey={(token) => token.id}
        rowHref={(token) => tokenHref(token.id)}
        page={page}
        onPage={setPage}
        sizes={sizes}
        empty={isFiltered ? <NoMatches onClear={clear} /> : <EmptyState icon={IconKey} {...words.empty} />}
      />
      <AnyKeysBar selection={selection} filter={filter} userId={userId} />
    </>
  );
}
