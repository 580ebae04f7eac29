import type { components } from './schema';

export type DayUsage = components['schemas']['DayBody'];

/** First and last day, both included, as YYYY-MM-DD. */
export interface DayRange {
  start: string;
  end: string;
}

const DAY_MS = 86_400_000;

/** How many days a range has. */
export function daysIn({ start, end }: DayRange): number {
  return (Date.parse(end) - Date.parse(start)) / DAY_MS + 1;
}

export type DailyUsage = components['schemas']['DailyUsageBody'];
