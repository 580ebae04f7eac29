import { Group, Text } from '@mantine/core';
import { IconKey } from '@tabler/icons-react';
import { useState } from 'react';
import { useAllTokens } from '../../../api/adminTokens';
import { DEFAULT_SORTING, readSorting, readStatus, type TokenListing } from '../../../api/tokenListing';
import { EmptyState } from '../../../shared/EmptyState';
import { ListingFields } from '../../../shared/ListingFields';
import { PageHeader } from '../../../shared/PageHeader';
import { texts } from '../../../texts';
import { tokenHref } from '../shared/links';
import { NoMatches } from '../shared/NoMatches';
import { PagedTable } from '../shared/PagedTable';
import { UserSelect } from '../shared/UserSelect';
import { useListQuery } from '../shared/useListQuery';
import { KeySearch, type SearchBy } from './KeySearch';
import { tokenColumns } from './tokenColumns';

const words = texts.adminTokens;
const noFilter = { keyword: '', user_id: '', status: '', by: '' };

export default function TokensPage() {
  const { filters, page, setFilters, setPage } = useListQuery(['keyword', 'user_id', 'status', 'sort', 'by']);
  // Not in the URL, which is written to histories and logs.
  const [key, setKey] = useState('');
  const by: SearchBy = filters.by === 'key' ? 'key' : 'name';
  const listing: TokenListing = {
    status: readStatus(filters.status),
    sorting: readSorting(filters.sort),
  };
  const search = { keyword: filters.keyword, key: by === 'key' ? key : '', userId: filters.user_id, listing };
  const tokens = useAllTokens(search, page);
  const isFiltered = Boolean(search.keyword || search.key || search.userId || listing.status);

  function setSearch(next: SearchBy, text: string) {
    setKey(next === 'key' ? text : '');
    setFilters({ by: next === 'key' ? 'key' : '', keyword: next === 'key' ? '' : text });
  }

  function setListing({ status, sorting }: TokenListing) {
    setFilters({ status: status?.toString() ?? '', sort: sorting === DEFAULT_SORTING ? '' : sorting });
  }

  function clear() {
    setKey('');
    setFilters(noFilter);
  }

  return (
    <>
      <PageHeader title={words.title} description={words.description} />
      <Group mb="md" gap="sm" align="flex-start">
        <KeySearch by={by} text={by === 'key' ? key : filters.keyword} onSearch={setSearch} />
        <UserSelect
          aria-label={words.owner}
          placeholder={words.allOwners}
          w={{ base: '100%', sm: 220 }}
          value={filters.user_id}
          onChange={(user_id) => setFilters({ user_id })}
        />
        <ListingFields listing={listing} onChange={(changes) => setListing({ ...listing, ...changes })} />
      </Group>
      {tokens.data?.truncated && (
        <Text size="sm" c="dimmed" mb="sm">
          {words.truncated}
        </Text>
      )}
      <PagedTable
        label={words.title}
        columns={tokenColumns}
        query={tokens}
        rowKey={(token) => token.id}
        rowHref={(token) => tokenHref(token.id)}
        page={page}
        onPage={setPage}
        empty={isFiltered ? <NoMatches onClear={clear} /> : <EmptyState icon={IconKey} {...words.empty} />}
      />
    </>
  );
}
