import { type DayRange, daysIn } from '../../api/dailyUsage';
import { plusDays, type RangeChoice, rangeProblem } from './range';

/** With which days a range is compared. */
export const comparisonChoices = ['before', 'year', 'custom', 'none'] as const;
export type ComparisonChoice = (typeof comparisonChoices)[number];

/** A comparison as the URL has it. Dates are typed, so they may be incomplete. */
export interface ComparisonState {
  choice: ComparisonChoice;
  /** Only of a custom comparison. */
  typed: DayRange;
}

/** Reads `compare`, `compare_from` and `compare_to` of a query string. */
export function readComparison(params: URLSearchParams): ComparisonState {
  return {
    choice: comparisonChoices.find((each) => each === params.get('compare')) ?? 'before',
    typed: { start: params.get('compare_from') ?? '', end: params.get('compare_to') ?? '' },
  };
}

/** The query string with this comparison. */
export function withComparison(params: URLSearchParams, { choice, typed }: ComparisonState): URLSearchParams {
  const next = new URLSearchParams(params);
  for (const name of ['compare', 'compare_from', 'compare_to']) next.delete(name);
  if (choice !== 'before') next.set('compare', choice);
  if (choice === 'custom') {
    next.set('compare_from', typed.start);
    next.set('compare_to', typed.end);
  }
  return next;
}

/** The days with which a range is compared. Absent if with none, or if the dates are no range. */
export function comparedDays(
  { choice, typed }: ComparisonState,
  range: DayRange,
  named: RangeChoice,
  today: string,
): DayRange | undefined {
  const days = {
    before: () => daysBefore(range, named, today),
    year: () => monthsBefore(range, 12, today),
    custom: () => typed,
    none: () => undefined,
  }[choice]();
  return days && rangeProblem(days) === undefined ? days : undefined;
}

/**
 * The same days of the week or month before, or as many days as the range has. A month that is over is compared with all
 * of the month before, whatever its length.
 */
function daysBefore(range: DayRange, named: RangeChoice, today: string): DayRange {
  if (named === 'month') return monthsBefore(range, 1, today);
  if (isWholeMonths(range, today)) return monthsBefore(range, monthsIn(range), today);
  const days = named === 'week' || named === 'last_week' ? 7 : daysIn(range);
  return { start: plusDays(range.start, -days), end: plusDays(range.end, -days) };
}

/** The same days so many months before. Months that are over stay whole months. */
function monthsBefore(range: DayRange, months: number, today: string): DayRange {
  const end = sameDay(range.end, -months);
  return {
    start: sameDay(range.start, -months),
    end: isWholeMonths(range, today) ? lastOfMonth(end) : end,
  };
}

/** From the first day of a month to the last one of a month, and over. */
function isWholeMonths({ start, end }: DayRange, today: string): boolean {
  return start.endsWith('-01') && end === lastOfMonth(end) && end < today;
}

function monthsIn({ start, end }: DayRange): number {
  return monthNumber(end) - monthNumber(start) + 1;
}

/** The months since the year 0. */
function monthNumber(day: string): number {
  return Number(day.slice(0, 4)) * 12 + Number(day.slice(5, 7)) - 1;
}

function lastOfMonth(day: string): string {
  const next = monthNumber(day) + 1;
  return plusDays(firstOf(next), -1);
}

/** The same day so many months later, or the last one of that month if it is shorter. */
function sameDay(day: string, months: number): string {
  const last = lastOfMonth(firstOf(monthNumber(day) + months));
  const same = `${last.slice(0, 8)}${day.slice(8)}`;
  return same < last ? same : last;
}

function firstOf(month: number): string {
  const year = Math.floor(month / 12);
  return `${String(year).padStart(4, '0')}-${String((month % 12) + 1).padStart(2, '0')}-01`;
}
