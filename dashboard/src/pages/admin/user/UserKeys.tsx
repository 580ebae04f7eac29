import { IconKey } from '@tabler/icons-react';
import { useAllTokens } from '../../../api/adminTokens';
import { EmptyState } from '../../../shared/EmptyState';
import { LoadedTable } from '../../../shared/LoadedTable';
import { listHref } from '../../../shared/listQuery';
import { texts } from '../../../texts';
import { tokenHref } from '../shared/links';
import { SectionHeader } from '../shared/SectionHeader';
import { tokenColumns } from '../tokens/tokenColumns';

const words = texts.adminUser.keys;
const ROWS = 5;
const columns = tokenColumns().filter(({ key }) => key !== 'owner');

/** The keys of the user that were used last. */
export function UserKeys({ userId }: { userId: number }) {
  const search = {
    keyword: '',
    key: '',
    userId: String(userId),
    listing: { state: undefined, sorting: 'last_used' as const },
  };
  const { data, error, refetch } = useAllTokens(search, 0);
  return (
    <section>
      <SectionHeader
        title={words.title}
        href={data?.total ? listHref('/admin/tokens', { user_id: userId }) : undefined}
        label={words.all(data?.total ?? 0)}
      />
      <LoadedTable
        error={error}
        onRetry={refetch}
        label={words.title}
        columns={columns}
        rows={data?.items.slice(0, ROWS)}
        rowKey={(token) => token.id}
        rowHref={(token) => tokenHref(token.id)}
        empty={<EmptyState icon={IconKey} {...words.empty} />}
      />
    </section>
  );
}
