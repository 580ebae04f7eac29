import { Button, Paper } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { PAGE_SIZE, type Page } from '../../../api/page';
import { EmptyState } from '../../../shared/EmptyState';
import { FailureState } from '../../../shared/FailureState';
import { Pager } from '../../../shared/Pager';
import { texts } from '../../../texts';
import type { PageSizes } from './useListPageSize';

export interface PagedProps<Row> {
  query: UseQueryResult<Page<Row>>;
  page: number;
  onPage: (page: number) => void;
  /** Lets the user choose the size of a page. */
  sizes?: PageSizes;
  /** Shown if the list has no rows. */
  empty: ReactNode;
}

interface Props<Row> extends PagedProps<Row> {
  /** `rows` is never empty. It is `undefined` while loading. */
  children: (rows: Row[] | undefined) => ReactNode;
}

/** A page of a list with page navigation, or the reason why there is none. */
export function Paged<Row>({ query, page, onPage, sizes, empty, children }: Props<Row>) {
  const { data, error, isPlaceholderData } = query;
  if (error && (!data || isPlaceholderData)) {
    return (
      <Paper>
        <FailureState error={error} onRetry={() => query.refetch()} />
      </Paper>
    );
  }
  if (data?.items.length === 0) {
    return <Paper>{page > 0 ? <PageOutOfRange onFirst={() => onPage(0)} /> : empty}</Paper>;
  }
  return (
    <>
      {children(data?.items)}
      {data && (
        <Pager
          page={page}
          pageSize={sizes?.size ?? PAGE_SIZE}
          total={data.total}
          onChange={onPage}
          sizes={sizes}
        />
      )}
    </>
  );
}

function PageOutOfRange({ onFirst }: { onFirst: () => void }) {
  const words = texts.adminLists.pageOutOfRange;
  const action = (
    <Button variant="default" onClick={onFirst}>
      {words.first}
    </Button>
  );
  return <EmptyState title={words.title} action={action} />;
}
