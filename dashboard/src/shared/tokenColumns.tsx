import { Stack } from '@mantine/core';
import { DEFAULT_SORTING, directionOf, type Sorting } from '../api/tokenListing';
import { isSwitchedOn } from '../api/tokenSwitch';
import type { Token } from '../api/tokens';
import type { Column } from './DataTable';
import { DisabledBy } from './DisabledBy';
import { PeriodBar } from './limits/PeriodBar';
import { tightestPeriod } from './limits/periodBar';
import { QuotaBar } from './QuotaBar';
import type { ColumnSort } from './SortHeader';
import { StateBadge } from './StateBadge';

/** The order of a list of tokens. */
export interface TokenSorting {
  sorting: Sorting;
  onSort: (sorting: Sorting) => void;
}

/** A click sorts in the first order, the next one in the second, and one more in neither. */
export function sortBy({ sorting, onSort }: TokenSorting, first: Sorting, second: Sorting): ColumnSort {
  const next = { [first]: second, [second]: DEFAULT_SORTING }[sorting] ?? first;
  return { direction: directionOf(sorting, [first, second]), onSort: () => onSort(next) };
}

export function statusColumn(header: string): Column<Token> {
  return {
    key: 'status',
    header,
    place: 'corner',
    cell: (token) => (
      <>
        <StateBadge token={token} />
        <DisabledBy who={isSwitchedOn(token) || token.switching ? undefined : token.disabled_by} />
      </>
    ),
  };
}

export function quotaColumn(header: string, sort?: ColumnSort): Column<Token> {
  return {
    key: 'quota',
    header,
    wide: true,
    sort,
    width: 210,
    cell: (token) => <QuotaAndLimit token={token} />,
  };
}

/** The quota, and the limit of which most is used. */
function QuotaAndLimit({ token }: { token: Token }) {
  const period = tightestPeriod(token.period_usage);
  return (
    <Stack gap="xs" miw={140}>
      <QuotaBar used={token.used_quota} remain={token.remain_quota} unlimited={token.unlimited_quota} />
      {period && <PeriodBar period={period} usage={token.period_usage[period]} compact />}
    </Stack>
  );
}
