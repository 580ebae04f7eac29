import type { DayRange } from '../../../api/dailyUsage';

/** The last day is at most this many days after the first (specification, section 8). */
const MAX_DAYS_APART = 7;

const DAY_MS = 86_400_000;
const WEEK = 7;

export type RangeChoice = 'today' | 'week' | 'custom';
export type RangeProblem = 'incomplete' | 'backwards' | 'too_long';

/** Today in the time zone of the server. */
export function todayIn(timeZone: string, now: Date): string {
  const parts = new Intl.DateTimeFormat('en', {
    timeZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  }).formatToParts(now);
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.find((each) => each.type === type)?.value;
  return `${part('year')}-${part('month')}-${part('day')}`;
}

export function plusDays(day: string, days: number): string {
  return new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10);
}

/** Today, or the last seven days including today. */
export function namedRange(choice: Exclude<RangeChoice, 'custom'>, today: string): DayRange {
  return { start: choice === 'today' ? today : plusDays(today, 1 - WEEK), end: today };
}

export function rangeProblem({ start, end }: DayRange): RangeProblem | undefined {
  const days = (Date.parse(end) - Date.parse(start)) / DAY_MS;
  if (Number.isNaN(days)) return 'incomplete';
  if (days < 0) return 'backwards';
  return days > MAX_DAYS_APART ? 'too_long' : undefined;
}
