import type { Report, ReportRow, SplitReport } from '../../api/usageReports';

/** How many models, keys, users or gateways have a colour of their own. The others share one. */
export const MAX_SERIES = 5;

const OTHER_COLOR = 'var(--km-series-other)';

/** The spend of a model, key, user or gateway, or of all others, by day. */
export interface Series {
  key: string;
  /** Absent for all others. */
  row: ReportRow | undefined;
  color: string;
  /** Quota units of each day. */
  units: number[];
  total: number;
}

export interface NamedSeries extends Series {
  name: string;
}

/** The models, keys, users or gateways with the highest spend, and the others together if there are any. One alone is none. */
export function seriesOf({ days, ranking, both }: SplitReport): Series[] {
  if (!both || ranking.rows.length < 2) return [];
  const indexes = new Map(days.rows.map(({ date }, index) => [date, index]));
  const top = ranking.rows.slice(0, MAX_SERIES).map((row, index) => ({
    key: rowKey(row),
    row,
    color: `var(--km-series-${index + 1})`,
    units: days.rows.map(() => 0),
    total: row.quota,
  }));
  const byKey = new Map(top.map((series) => [series.key, series]));
  for (const row of both.rows) {
    const index = indexes.get(row.date);
    const series = byKey.get(rowKey(row));
    if (series && index !== undefined) series.units[index] = (series.units[index] ?? 0) + row.quota;
  }
  const others = ranking.rows.length > MAX_SERIES ? [rest(days, top)] : [];
  return [...top, ...others];
}

function rest({ rows, total }: Report, top: Series[]): Series {
  const sum = (numbers: number[]) => numbers.reduce((all, each) => all + each, 0);
  return {
    key: 'other',
    row: undefined,
    color: OTHER_COLOR,
    // A charge between two reports is in one of them only.
    units: rows.map(({ quota }, day) => Math.max(0, quota - sum(top.map(({ units }) => units[day] ?? 0)))),
    total: Math.max(0, total.quota - sum(top.map((series) => series.total))),
  };
}

/** Identifies a model, key, user or gateway. */
export function rowKey({ user_id, token_id, gateway_id, model }: ReportRow): string {
  return `${user_id ?? ''} ${token_id ?? ''} ${gateway_id ?? ''} ${model ?? ''}`;
}
