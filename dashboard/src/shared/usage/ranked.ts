import type { Report, ReportRow } from '../../api/usageReports';

/** How many rows a ranking shows. The export has all. */
export const MAX_RANKS = 100;

export interface Ranked extends ReportRow {
  rank: number;
  /** The share of the total spend. */
  percent: number;
}

/** The rows of a report with the highest spend, in their order. */
export function ranked({ rows, total }: Pick<Report, 'rows' | 'total'>, count = MAX_RANKS): Ranked[] {
  return rows.slice(0, count).map((row, index) => ({
    ...row,
    rank: index + 1,
    percent: total.quota > 0 ? Math.round((row.quota / total.quota) * 100) : 0,
  }));
}
