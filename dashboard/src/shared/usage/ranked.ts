import type { Report, ReportRow } from '../../api/usageReports';
import { formatRows } from '../../format/money';

/** How many rows a ranking shows. The export has all. */
export const MAX_RANKS = 100;

export interface Ranked extends ReportRow {
  rank: number;
  /** The spend, rounded so that all rows add up to the total. */
  text: string | undefined;
  /** The share of the total spend. */
  percent: number;
}

/** The rows of a report with the highest spend, in their order. */
export function ranked({ rows, total }: Pick<Report, 'rows' | 'total'>, count = MAX_RANKS): Ranked[] {
  const amounts = formatRows(rows.map(({ quota }) => quota)).rows;
  return rows.slice(0, count).map((row, index) => ({
    ...row,
    rank: index + 1,
    text: amounts[index],
    percent: total.quota > 0 ? Math.round((row.quota / total.quota) * 100) : 0,
  }));
}
