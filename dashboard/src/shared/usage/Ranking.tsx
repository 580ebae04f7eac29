import { Progress, Text, Title } from '@mantine/core';
import { IconChartBar } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import type { Report } from '../../api/usageReports';
import { formatCompact } from '../../format/compact';
import { formatInteger } from '../../format/locale';
import { texts } from '../../texts';
import { type Column, DataTable } from '../DataTable';
import { EmptyState } from '../EmptyState';
import { Money } from '../Money';
import { MAX_RANKS, type Ranked, ranked } from './ranked';
import { rowKey } from './series';

const words = texts.usage;

interface Props {
  title: string;
  /** The header of the names. */
  header: string;
  report: Report;
  /** The name of a row, with a link if it has a page. */
  name: (row: Ranked) => ReactNode;
}

/** A report by user, token or model, the highest spend first. */
export function Ranking({ title, header, report, name }: Props) {
  const hidden = report.rows.length - MAX_RANKS;
  return (
    <section>
      <Title order={2} mb="md">
        {title}
      </Title>
      <DataTable
        label={title}
        columns={[rank, { key: 'name', header, place: 'title', cell: name }, ...figures]}
        rows={ranked(report)}
        rowKey={rowKey}
        empty={<EmptyState icon={IconChartBar} {...words.empty} />}
      />
      {hidden > 0 && (
        <Text size="sm" c="dimmed" mt="sm">
          {words.hiddenRanks(formatInteger(MAX_RANKS), formatInteger(hidden))}
        </Text>
      )}
    </section>
  );
}

const rank: Column<Ranked> = {
  key: 'rank',
  header: words.rank,
  width: 70,
  cell: ({ rank }) => <span className="tabular">{formatInteger(rank)}</span>,
};

const figures: Column<Ranked>[] = [
  {
    key: 'share',
    header: words.share,
    width: 200,
    cell: ({ percent }) => (
      <Progress.Root size={8}>
        <Progress.Section
          value={percent}
          color="var(--km-accent)"
          aria-label={words.percent(formatInteger(percent))}
        />
      </Progress.Root>
    ),
  },
  {
    key: 'spent',
    header: words.spent,
    align: 'right',
    cell: ({ quota }) => <Money units={quota} fw={600} />,
  },
  {
    key: 'requests',
    header: words.requests,
    align: 'right',
    cell: ({ requests }) => <span className="tabular">{formatInteger(requests)}</span>,
  },
  {
    key: 'tokens',
    header: words.tokens,
    align: 'right',
    cell: (row) => (
      <Text span inherit className="tabular">
        {formatCompact(row.prompt_tokens + row.completion_tokens)}
      </Text>
    ),
  },
];
