import type { DayUsage } from '../api/dailyUsage';
import { UNITS_PER_USD } from './money';

/** Quota units of a dollar amount of the API. Amounts are whole units, so rounding removes float errors. */
export function unitsOf(usd: number): number {
  return Math.round(usd * UNITS_PER_USD);
}

export interface Totals {
  units: number;
  requests: number;
  promptTokens: number;
  completionTokens: number;
}

/** Sums quota units, because sums of dollar floats are not exact. */
export function totalsOf(daily: DayUsage[]): Totals {
  return daily.reduce(
    (sum, day) => ({
      units: sum.units + unitsOf(day.usd),
      requests: sum.requests + day.requests,
      promptTokens: sum.promptTokens + day.prompt_tokens,
      completionTokens: sum.completionTokens + day.completion_tokens,
    }),
    { units: 0, requests: 0, promptTokens: 0, completionTokens: 0 },
  );
}

export function newestFirst(daily: DayUsage[]): DayUsage[] {
  return [...daily].reverse();
}
