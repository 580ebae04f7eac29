import { roundingGap } from '../../format/money';

/**
 * By how many units at most a row or a column of rounded amounts differs from its rounded total.
 * @param days The total of each day.
 * @param series The amounts of each series by day. They add up to the days, or there are none.
 */
export function tableGap(days: number[], series: number[][]): number {
  const rows = series.length > 0 ? days.map((_, day) => series.map((units) => units[day] ?? 0)) : [];
  const totals = series.map((units) => units.reduce((sum, each) => sum + each, 0));
  return Math.max(0, ...[days, totals, ...series, ...rows].map((parts) => Math.abs(roundingGap(parts))));
}
