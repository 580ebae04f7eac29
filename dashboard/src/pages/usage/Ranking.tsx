import { Anchor, Progress, Text } from '@mantine/core';
import { IconChartBar } from '@tabler/icons-react';
import { Link } from 'wouter';
import type { Report, ReportRow } from '../../api/usageReports';
import { formatCompact } from '../../format/compact';
import { formatInteger } from '../../format/locale';
import { formatRows } from '../../format/money';
import { type Column, DataTable } from '../../shared/DataTable';
import { EmptyState } from '../../shared/EmptyState';
import { Money } from '../../shared/Money';
import { texts } from '../../texts';

const words = texts.usage;

interface Ranked extends ReportRow {
  rank: number;
  text: string | undefined;
  percent: number;
}

/** The tokens with the highest spend first. */
export function Ranking({ report }: { report: Report | undefined }) {
  return (
    <DataTable
      label={words.ranking}
      columns={columns}
      rows={report && ranked(report)}
      rowKey={(row) => row.token_id ?? 0}
      empty={<EmptyState icon={IconChartBar} {...words.empty} />}
    />
  );
}

function ranked({ rows, total }: Report): Ranked[] {
  const amounts = formatRows(rows.map(({ quota }) => quota)).rows;
  return rows.map((row, index) => ({
    ...row,
    rank: index + 1,
    text: amounts[index],
    percent: total.quota > 0 ? Math.round((row.quota / total.quota) * 100) : 0,
  }));
}

const columns: Column<Ranked>[] = [
  {
    key: 'rank',
    header: words.rank,
    width: 70,
    cell: ({ rank }) => <span className="tabular">{formatInteger(rank)}</span>,
  },
  {
    key: 'key',
    header: words.key,
    place: 'title',
    cell: ({ token_id, token_name }) => (
      <Anchor component={Link} href={`/keys/${token_id}`} size="sm" fw={600}>
        {token_name}
      </Anchor>
    ),
  },
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
    cell: ({ quota, text }) => <Money units={quota} text={text} fw={600} />,
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
