import { type DayRange, daysIn } from '../../api/dailyUsage';
import { limits } from '../../api/serverLimits';

const DAY_MS = 86_400_000;
const WEEK = 7;

export const rangeChoices = [
  'today',
  'yesterday',
  '7d',
  '30d',
  '90d',
  'week',
  'last_week',
  'month',
  'last_month',
  'custom',
] as const;
export type RangeChoice = (typeof rangeChoices)[number];

export const DEFAULT_RANGE = '7d';

/** A range as the URL has it. Dates are typed, so they may be incomplete. */
export interface RangeState {
  choice: RangeChoice;
  typed: DayRange;
}

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

const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

/** The first day of the week of a day. `weekStarts` is a name such as "monday", as the server has it. */
function firstOfWeek(day: string, weekStarts: string): string {
  const first = Math.max(0, weekdays.indexOf(weekStarts));
  return plusDays(day, -((new Date(day).getUTCDay() - first + WEEK) % WEEK));
}

/** The last days including today, or those of this week or month or the one before. */
export function namedRange(
  choice: Exclude<RangeChoice, 'custom'>,
  today: string,
  weekStarts: string,
): DayRange {
  switch (choice) {
    case 'today':
      return { start: today, end: today };
    case 'yesterday':
      return { start: plusDays(today, -1), end: plusDays(today, -1) };
    case 'week':
      return { start: firstOfWeek(today, weekStarts), end: today };
    case 'last_week': {
      const end = plusDays(firstOfWeek(today, weekStarts), -1);
      return { start: plusDays(end, 1 - WEEK), end };
    }
    case 'month':
      return { start: firstOfMonth(today), end: today };
    case 'last_month': {
      const end = plusDays(firstOfMonth(today), -1);
      return { start: firstOfMonth(end), end };
    }
    default:
      return { start: plusDays(today, 1 - Number.parseInt(choice, 10)), end: today };
  }
}

function firstOfMonth(day: string): string {
  return `${day.slice(0, 7)}-01`;
}

/** Reads `range`, `from` and `to` of a query string. */
export function readRange(params: URLSearchParams, today: string, weekStarts: string): RangeState {
  const choice = rangeChoices.find((each) => each === params.get('range')) ?? DEFAULT_RANGE;
  const typed =
    choice === 'custom'
      ? { start: params.get('from') ?? '', end: params.get('to') ?? '' }
      : namedRange(choice, today, weekStarts);
  return { choice, typed };
}

/** The query string with this range. */
export function withRange(params: URLSearchParams, { choice, typed }: RangeState): URLSearchParams {
  const next = new URLSearchParams(params);
  for (const name of ['range', 'from', 'to']) next.delete(name);
  if (choice !== DEFAULT_RANGE) next.set('range', choice);
  if (choice === 'custom') {
    next.set('from', typed.start);
    next.set('to', typed.end);
  }
  return next;
}

/** `Date.parse` also accepts "2026", and years that are too far away to be shown. */
export function isDay(text: string): boolean {
  return /^(?!0000)\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text));
}

export function rangeProblem(range: DayRange): RangeProblem | undefined {
  if (![range.start, range.end].every(isDay)) return 'incomplete';
  const days = daysIn(range);
  if (days < 1) return 'backwards';
  return days > limits.report_days ? 'too_long' : undefined;
}
