import { Alert, Anchor } from '@mantine/core';
import { IconArrowBackUp, IconTrash } from '@tabler/icons-react';
import { type Ref, useEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { Link } from 'wouter';
import { useDeletedTokens, useRestoreTokens } from '../../api/deletedTokens';
import { PAGE_SIZE } from '../../api/page';
import type { Token } from '../../api/tokens';
import { EmptyState } from '../../shared/EmptyState';
import { LoadedTable } from '../../shared/LoadedTable';
import { notifyFailure } from '../../shared/notify';
import { PageHeader } from '../../shared/PageHeader';
import { Pager } from '../../shared/Pager';
import { useListQuery } from '../../shared/useListQuery';
import { texts } from '../../texts';
import { deletedKeyColumns } from './deletedKeyColumns';

const words = texts.deletedKeys;
const back = { href: '/keys', label: texts.keys.title };

/** The deleted keys that can be restored. */
export default function DeletedKeysPage() {
  const { page, setPage } = useListQuery([]);
  const { data, error, isPlaceholderData, refetch } = useDeletedTokens(page);
  const restore = useRestoreTokens();
  const [restored, setRestored] = useState<Token>();
  const restoredRef = useRef<HTMLDivElement>(null);

  // A restored key can be the only one of the last page.
  const lastPage = Math.max(0, Math.ceil((data?.total ?? 0) / PAGE_SIZE) - 1);
  const isPageOutOfRange = data !== undefined && !isPlaceholderData && page > lastPage;
  useEffect(() => {
    if (isPageOutOfRange) setPage(lastPage);
  });

  function restoreKey(token: Token) {
    restore.mutate([token], {
      onSuccess: ({ done }) => {
        flushSync(() => setRestored(done[0]));
        // The row that had the focus no longer exists.
        restoredRef.current?.focus();
      },
      onError: notifyFailure,
    });
  }

  return (
    <>
      <PageHeader title={words.title} description={words.description} back={back} />
      {restored && <Restored key={restored.id} ref={restoredRef} token={restored} />}
      <LoadedTable
        label={words.title}
        columns={deletedKeyColumns(restoreKey, restore.isPending ? restore.variables[0] : undefined)}
        rows={isPlaceholderData ? undefined : data?.items}
        rowKey={({ id }) => id}
        error={error}
        onRetry={refetch}
        empty={<EmptyState icon={IconTrash} title={words.empty.title} hint={words.empty.hint} />}
      />
      <Pager page={page} pageSize={PAGE_SIZE} total={data?.total ?? 0} onChange={setPage} />
    </>
  );
}

/** Says what a key that was deleted because it leaked needs now. */
function Restored({ ref, token }: { ref: Ref<HTMLDivElement>; token: Token }) {
  return (
    <Alert
      ref={ref}
      tabIndex={-1}
      icon={<IconArrowBackUp size={18} />}
      title={words.restored(token.name)}
      mb="md"
    >
      {token.state === 'working' && <div>{words.works}</div>}
      <div>{words.ifLeaked}</div>
      <div>
        <Anchor component={Link} href={`/keys/${token.id}`} inherit>
          {words.show}
        </Anchor>
      </div>
    </Alert>
  );
}
