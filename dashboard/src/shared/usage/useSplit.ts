import { useSearchParams } from 'wouter';
import type { UsageSplit } from '../../api/usageReports';

const DEFAULT: UsageSplit = 'model';

/** What usage is split by, kept in the query string. */
export function useSplit(splits: UsageSplit[]) {
  const [params, setParams] = useSearchParams();
  const split = splits.find((each) => each === params.get('by')) ?? DEFAULT;
  const setSplit = (next: UsageSplit) =>
    setParams(
      (current) => {
        const changed = new URLSearchParams(current);
        if (next === DEFAULT) changed.delete('by');
        else changed.set('by', next);
        return changed;
      },
      { replace: true },
    );
  return { split, setSplit };
}
