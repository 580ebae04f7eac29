import { Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { PAGE_SIZE } from '../../api/page';
import { type RefusedOptions, type RefusedRow, useRefusedRequests } from '../../api/refusedRequests';
import { formatInteger } from '../../format/locale';
import { texts } from '../../texts';
import type { Column } from '../DataTable';
import { LoadedTable } from '../LoadedTable';
import { Pager } from '../Pager';
import { reasonText } from './refusalText';
import { usePage } from './usePage';

const words = texts.usage.refused;

interface Props extends Omit<RefusedOptions, 'page'> {
  /** The name of the key of a row, with a link. Absent for a single key. */
  name?: (row: RefusedRow) => ReactNode;
}

/** Why requests were refused, the most frequent reason first. */
export function RefusedRequests({ name, ...options }: Props) {
  const [page, setPage] = usePage(options);
  const { data, error, refetch } = useRefusedRequests({ ...options, page });
  return (
    <section>
      <Title order={2} mb={4}>
        {words.title}
      </Title>
      <Text size="sm" c="dimmed" mb="md">
        {data ? words.total(data.total) : words.description}
      </Text>
      <LoadedTable
        error={error}
        onRetry={refetch}
        label={words.title}
        columns={
          name ? [reason, { key: 'key', header: texts.usage.key, cell: name }, requests] : [reason, requests]
        }
        rows={data?.rows}
        rowKey={({ token_id, reason }) => `${token_id} ${reason}`}
        empty={
          <Text p="lg" c="dimmed">
            {words.empty}
          </Text>
        }
      />
      <Pager page={page} pageSize={PAGE_SIZE} total={data?.total_rows ?? 0} onChange={setPage} />
    </section>
  );
}

const reason: Column<RefusedRow> = {
  key: 'reason',
  header: words.reason,
  place: 'title',
  cell: ({ reason }) => (
    <Text span inherit fw={600}>
      {reasonText(reason)}
    </Text>
  ),
};

const requests: Column<RefusedRow> = {
  key: 'requests',
  header: texts.usage.requests,
  align: 'right',
  cell: ({ requests }) => <span className="tabular">{formatInteger(requests)}</span>,
};
