import { Group } from '@mantine/core';
import { IconKey } from '@tabler/icons-react';
import { useAllTokens } from '../../../api/adminTokens';
import { useUsernames } from '../../../api/adminUsers';
import { EmptyState } from '../../../shared/EmptyState';
import { PageHeader } from '../../../shared/PageHeader';
import { texts } from '../../../texts';
import { KeywordSearch } from '../shared/KeywordSearch';
import { NoMatches } from '../shared/NoMatches';
import { PagedTable } from '../shared/PagedTable';
import { UserSelect } from '../shared/UserSelect';
import { useListQuery } from '../shared/useListQuery';
import { tokenColumns } from './tokenColumns';

const words = texts.adminTokens;

export default function TokensPage() {
  const { filters, page, setFilters, setPage } = useListQuery(['keyword', 'user_id']);
  const tokens = useAllTokens(filters.keyword, filters.user_id, page);
  const usernames = useUsernames();
  const isFiltered = Object.values(filters).some(Boolean);
  return (
    <>
      <PageHeader title={words.title} description={words.description} />
      <Group mb="md" gap="sm">
        <KeywordSearch
          label={words.search}
          keyword={filters.keyword}
          onSearch={(keyword) => setFilters({ keyword })}
        />
        <UserSelect
          aria-label={words.owner}
          placeholder={words.allOwners}
          w={{ base: '100%', sm: 220 }}
          value={filters.user_id}
          onChange={(user_id) => setFilters({ user_id })}
        />
      </Group>
      <PagedTable
        label={words.title}
        columns={tokenColumns(usernames.data)}
        query={tokens}
        rowKey={(token) => token.id}
        page={page}
        onPage={setPage}
        empty={
          isFiltered ? (
            <NoMatches onClear={() => setFilters({ keyword: '', user_id: '' })} />
          ) : (
            <EmptyState icon={IconKey} {...words.empty} />
          )
        }
      />
    </>
  );
}
