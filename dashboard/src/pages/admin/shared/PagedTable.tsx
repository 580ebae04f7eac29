import { Button, Paper } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { PAGE_SIZE, type Page } from '../../../api/page';
import { type Column, DataTable } from '../../../shared/DataTable';
import { EmptyState } from '../../../shared/EmptyState';
import { FailureState } from '../../../shared/FailureState';
import { Pager } from '../../../shared/Pager';
import { texts } from '../../../texts';

interface Props<Row> {
  label: string;
  columns: Column<Row>[];
  query: UseQueryResult<Page<Row>>;
  rowKey: (row: Row) => number;
  page: number;
  onPage: (page: number) => void;
  empty: ReactNode;
}

/** A list of the server with its pages, or why there is none. */
export function PagedTable<Row>({ query, page, onPage, empty, ...table }: Props<Row>) {
  const { data, error, isPlaceholderData } = query;
  if (error && (!data || isPlaceholderData)) {
    return (
      <Paper>
        <FailureState error={error} onRetry={() => query.refetch()} />
      </Paper>
    );
  }
  return (
    <>
      <DataTable
        {...table}
        rows={data?.items}
        empty={page > 0 ? <PastTheEnd onFirst={() => onPage(0)} /> : empty}
      />
      {data && data.items.length > 0 && (
        <Pager page={page} pageSize={PAGE_SIZE} total={data.total} onChange={onPage} />
      )}
    </>
  );
}

function PastTheEnd({ onFirst }: { onFirst: () => void }) {
  const words = texts.adminLists.pastTheEnd;
  const action = (
    <Button variant="default" onClick={onFirst}>
      {words.first}
    </Button>
  );
  return <EmptyState title={words.title} action={action} />;
}
