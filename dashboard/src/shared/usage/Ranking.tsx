import { Group, SegmentedControl, Text, Title } from '@mantine/core';
import { IconChartBar } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { PAGE_SIZE } from '../../api/page';
import type { ReportRow, UsageSplit } from '../../api/usageReports';
import { texts } from '../../texts';
import { EmptyState } from '../EmptyState';
import { LoadedTable } from '../LoadedTable';
import { Pager } from '../Pager';
import { ranked } from './ranked';
import { rankingColumns } from './rankingColumns';
import { rowKey } from './series';
import type { RankingOrder, useRanking } from './useRanking';

const words = texts.usage;

const orders = (['spend', 'change'] as const).map((value) => ({
  value,
  label: words.comparison.orders[value],
}));

interface Props {
  ranking: ReturnType<typeof useRanking>;
  /** The name of a row, with a link if it has a page. */
  name: (row: ReportRow, split: UsageSplit) => ReactNode;
  /** The page of what the spend of a row is made of. */
  hrefOf: (row: ReportRow) => string | undefined;
}

/** A report by user, group, key or model: the highest spend first, or the largest change. */
export function Ranking({ ranking, name, hrefOf }: Props) {
  const { data, error, refetch, wanted, order, setOrder, page, setPage } = ranking;
  const { split } = data ?? wanted;
  const isCompared = data?.compare_from !== undefined;
  const title = words.rankings[wanted.byChange ? 'change' : 'spend'][split];
  return (
    <section>
      <Group justify="space-between" mb="md" gap="sm">
        <Title order={2}>{title}</Title>
        {wanted.compare && (
          <SegmentedControl<RankingOrder>
            aria-label={words.comparison.order}
            data={orders}
            value={order}
            onChange={setOrder}
          />
        )}
      </Group>
      {data && wanted.compare && !isCompared && <Text mb="md">{words.comparison.tooMuch}</Text>}
      <LoadedTable
        error={error}
        onRetry={refetch}
        label={title}
        columns={rankingColumns(words.splits[split], (row) => name(row, split), hrefOf, isCompared)}
        rows={data && ranked(data)}
        rowKey={rowKey}
        empty={<EmptyState icon={IconChartBar} {...words.empty} />}
      />
      <Pager page={page} pageSize={PAGE_SIZE} total={data?.total_rows ?? 0} onChange={setPage} />
    </section>
  );
}
