import type { components } from './schema';

export type DayUsage = components['schemas']['DayBody'];

/** First and last day, both included, as YYYY-MM-DD. */
export interface DayRange {
  start: string;
  end: string;
}

export type DailyUsage = components['schemas']['DailyUsageBody'];
