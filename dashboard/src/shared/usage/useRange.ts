import { useSearchParams } from 'wouter';
import type { DayRange } from '../../api/dailyUsage';
import { useStatus } from '../../api/status';
import { useLastDefined } from '../useLastDefined';
import { type RangeState, rangeProblem, readRange, withRange } from './range';

/** A range of days, kept in the query string. `range` is the last valid one. Load the status before. */
export function useRange(today: string) {
  const [params, setParams] = useSearchParams();
  const { data: status } = useStatus();
  const state = readRange(params, today, status?.week_starts ?? 'monday');
  const isValid = rangeProblem(state.typed) === undefined;
  // As a text, because an object would be another one in every render.
  const last = useLastDefined(isValid ? `${state.typed.start} ${state.typed.end}` : undefined);
  const [start = today, end = today] = last?.split(' ') ?? [];
  const range: DayRange = { start, end };
  return {
    state,
    range,
    /** Typing a date replaces the entry of the history, a choice adds one. */
    setState: (next: RangeState) =>
      setParams((current) => withRange(current, next), { replace: next.choice === state.choice }),
  };
}
