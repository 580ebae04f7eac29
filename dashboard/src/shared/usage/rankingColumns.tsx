import { Progress, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { ReportRow } from '../../api/usageReports';
import { formatCompact } from '../../format/compact';
import { formatInteger } from '../../format/locale';
import { formatPercentChange } from '../../format/percent';
import { texts } from '../../texts';
import type { Column } from '../DataTable';
import { Money } from '../Money';
import classes from './Ranking.module.css';
import type { Ranked } from './ranked';

const words = texts.usage;

/** @param header The header of the names. */
export function rankingColumns(
  header: string,
  name: (row: Ranked) => ReactNode,
  hrefOf: (row: ReportRow) => string | undefined,
  isCompared: boolean,
): Column<Ranked>[] {
  const share: Column<Ranked> = {
    key: 'share',
    header: words.share,
    wide: true,
    width: isCompared ? 120 : 200,
    cell: (row) => <Share percent={row.percent} href={hrefOf(row)} />,
  };
  return [
    rank,
    { key: 'name', header, place: 'title', cell: name },
    share,
    spent,
    ...(isCompared ? [before, change] : []),
    ...figures,
  ];
}

/** A bar that opens what it is made of. */
function Share({ percent, href }: { percent: number; href: string | undefined }) {
  const bar = (
    <Progress.Root size={8}>
      <Progress.Section
        value={percent}
        color="var(--km-accent)"
        aria-label={words.percent(formatInteger(percent))}
      />
    </Progress.Root>
  );
  if (href === undefined) return bar;
  return (
    <Link href={href} className={classes.share} title={words.madeOf}>
      {bar}
    </Link>
  );
}

const rank: Column<Ranked> = {
  key: 'rank',
  header: words.rank,
  width: 70,
  cell: ({ rank }) => <span className="tabular">{formatInteger(rank)}</span>,
};

const spent: Column<Ranked> = {
  key: 'spent',
  header: words.spent,
  align: 'right',
  cell: ({ quota }) => <Money units={quota} fw={600} />,
};

const before: Column<Ranked> = {
  key: 'before',
  header: words.comparison.before,
  align: 'right',
  cell: ({ before }) => before && <Money units={before.quota} />,
};

const change: Column<Ranked> = {
  key: 'change',
  header: words.comparison.change,
  align: 'right',
  cell: (row) => <Change row={row} />,
};

/** The difference, and below it by how much that is more or less. */
function Change({ row: { quota, before, change } }: { row: Ranked }) {
  if (!before || !change) return null;
  return (
    <>
      <Money units={change.quota} change fw={600} />
      {change.quota !== 0 && (
        <Text size="xs" c="dimmed" className="tabular">
          {before.quota > 0 ? formatPercentChange(before.quota, quota) : words.comparison.isNew}
        </Text>
      )}
    </>
  );
}

const figures: Column<Ranked>[] = [
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
