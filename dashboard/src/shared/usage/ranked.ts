import type { Report, ReportRow } from '../../api/usageReports';

export interface Ranked extends ReportRow {
  rank: number;
  /** The share of the total spend. */
  percent: number;
}

type Ranking = Pick<Report, 'rows' | 'total' | 'page' | 'page_size'>;

/** The first rows of a report, or of a page of it, in their order. All of them without a `count`. */
export function ranked({ rows, total, page = 1, page_size = 0 }: Ranking, count = rows.length): Ranked[] {
  const before = (page - 1) * page_size;
  return rows.slice(0, count).map((row, index) => ({
    ...row,
    rank: before + index + 1,
    percent: total.quota > 0 ? Math.round((row.quota / total.quota) * 100) : 0,
  }));
}
