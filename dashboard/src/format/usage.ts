import type { DayUsage } from '../api/dailyUsage';
import { UNITS_PER_USD } from './money';

/** The API's dollars are exact decimals that became floats on the way; rounded they are exact again. */
export function unitsOf(usd: number): number {
  return Math.round(usd * UNITS_PER_USD);
}

export interface Totals {
  units: number;
  requests: number;
  promptTokens: number;
  completionTokens: number;
}

/** In units, because sums of floats would not be exact. */
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
