import { useSearchParams } from 'wouter';
import type { DayRange } from '../../api/dailyUsage';
import { type ComparisonState, comparedDays, readComparison, withComparison } from './comparison';
import type { RangeChoice } from './range';

/** With which days a range is compared, kept in the query string. `compare` is absent if with none. */
export function useComparison(range: DayRange, named: RangeChoice, today: string) {
  const [params, setParams] = useSearchParams();
  const comparison = readComparison(params);
  return {
    comparison,
    compare: comparedDays(comparison, range, named, today),
    setComparison: (next: ComparisonState) =>
      setParams((current) => withComparison(current, next), { replace: true }),
  };
}
