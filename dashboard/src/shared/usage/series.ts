import { type Report, type ReportRow, type SplitReport, timeOf } from '../../api/usageReports';

/** How many models, keys, users, groups or gateways have a colour of their own. The others share one. */
export const MAX_SERIES = 5;

const OTHER_COLOR = 'var(--km-series-other)';

/** The spend of a model, key, user, group or gateway, or of all others, by day or hour. */
export interface Series {
  key: string;
  /** Absent for all others. */
  row: ReportRow | undefined;
  color: string;
  /** Quota units of each day or hour. */
  units: number[];
  total: number;
}

export interface NamedSeries extends Series {
  name: string;
}

/** Those with the highest spend, and the others together if there are any. One alone is none. */
export function seriesOf({ time, top: { rows }, both }: SplitReport): Series[] {
  if (!both || rows.length < 2) return [];
  const indexes = new Map(time.rows.map((row, index) => [timeOf(row), index]));
  const top = rows.slice(0, MAX_SERIES).map((row, index) => ({
    key: rowKey(row),
    row,
    color: `var(--km-series-${index + 1})`,
    units: time.rows.map(() => 0),
    total: row.quota,
  }));
  const byKey = new Map(top.map((series) => [series.key, series]));
  for (const row of both.rows) {
    const index = indexes.get(timeOf(row));
    const series = byKey.get(rowKey(row));
    if (series && index !== undefined) series.units[index] = (series.units[index] ?? 0) + row.quota;
  }
  const others = rows.length > MAX_SERIES ? [rest(time, top)] : [];
  return [...top, ...others];
}

function rest({ rows, total }: Report, top: Series[]): Series {
  const sum = (numbers: number[]) => numbers.reduce((all, each) => all + each, 0);
  return {
    key: 'other',
    row: undefined,
    color: OTHER_COLOR,
    // A charge between two reports is in one of them only.
    units: rows.map(({ quota }, index) =>
      Math.max(0, quota - sum(top.map(({ units }) => units[index] ?? 0))),
    ),
    total: Math.max(0, total.quota - sum(top.map((series) => series.total))),
  };
}

/** Identifies a model, key, user, group or gateway. */
export function rowKey({ user_id, token_id, gateway_id, group, model }: ReportRow): string {
  return `${user_id ?? ''} ${token_id ?? ''} ${gateway_id ?? ''} ${group ?? ''} ${model ?? ''}`;
}
