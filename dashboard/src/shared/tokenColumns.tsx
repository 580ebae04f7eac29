import { Stack } from '@mantine/core';
import { DEFAULT_SORTING, type Sorting, sortings } from '../api/tokenListing';
import { isSwitchedOn } from '../api/tokenSwitch';
import type { Token } from '../api/tokens';
import type { Column } from './DataTable';
import { DisabledBy } from './DisabledBy';
import { PeriodBar } from './limits/PeriodBar';
import { tightestPeriod } from './limits/periodBar';
import { QuotaBar } from './QuotaBar';
import type { ColumnSort } from './SortHeader';
import { StateBadge } from './StateBadge';
import { type ListSorting, sortByOneOf } from './sortBy';

/** The order of a list of tokens. */
export type TokenSorting = ListSorting<Sorting>;

export const sortBy = sortByOneOf(sortings, DEFAULT_SORTING);

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
