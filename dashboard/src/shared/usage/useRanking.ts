import type { DayRange } from '../../api/dailyUsage';
import { type UsageOptions, type UsageSplit, useRankingReport } from '../../api/usageReports';
import { useQueryChoice } from '../useQueryChoice';
import { usePage } from './usePage';

const orders = ['spend', 'change'] as const;
export type RankingOrder = (typeof orders)[number];

interface Options extends UsageOptions {
  range: DayRange;
  split: UsageSplit;
  /** Absent without a comparison. */
  compare: DayRange | undefined;
}

/** A page of a ranking, and its order, which the query string keeps. */
export function useRanking(options: Options) {
  const [order, setOrder] = useQueryChoice('order', orders);
  const wanted = { ...options, byChange: order === 'change' && options.compare !== undefined };
  const [page, setPage] = usePage(wanted);
  return { ...useRankingReport({ ...wanted, page }), wanted, order, setOrder, page, setPage };
}
