import type { DayRange } from '../../../api/dailyUsage';
import type { TimeSpan } from '../../../api/requestHistory';
import { formatLaterDay } from '../../../format/calendar';
import { dateTimeInput, parseDateTime } from '../../../format/dateTimeInput';
import { formatMinute } from '../../../format/time';
import { isDay, namedRange, type RangeChoice, rangeChoices } from '../../../shared/usage/range';
import { texts } from '../../../texts';
import { startOfDay } from './startOfDay';

const words = texts.requests.filters;
const SECONDS = /^[1-9]\d{0,11}$/;
const LAST_OF_MINUTE = 59;

type SpanChoice = RangeChoice | 'all';
export const spanChoices: readonly Exclude<SpanChoice, 'custom'>[] = [
  ...rangeChoices.filter((choice) => choice !== 'custom'),
  'all',
];

const DEFAULT_CHOICE = '7d';

/** The time of requests that is asked for. */
export interface Span extends TimeSpan {
  choice: SpanChoice;
}

/**
 * Reads `range`, `from` and `to` of a query string. An ID of a gateway is searched for in all time, unless a time is
 * chosen. An end that the server would refuse is open.
 */
export function readSpan(params: URLSearchParams, today: string, weekStarts: string): Span {
  const named = params.get('range') ?? (params.get('request_id') ? 'all' : DEFAULT_CHOICE);
  if (named === 'all') return { choice: 'all' };
  if (named === 'custom')
    return { choice: 'custom', start: endOf(params.get('from')), end: endOf(params.get('to')) };
  const choice = spanChoices.find((each) => each === named) ?? DEFAULT_CHOICE;
  return choice === 'all' ? { choice } : { choice, ...namedRange(choice, today, weekStarts) };
}

function endOf(text: string | null): string | undefined {
  return text !== null && (SECONDS.test(text) || isDay(text)) ? text : undefined;
}

/** The query string with this time. The choice is always named, because the default depends on other filters. */
export function withSpan(params: URLSearchParams, { choice, start, end }: Span): URLSearchParams {
  const next = new URLSearchParams(params);
  next.set('range', choice);
  for (const name of ['from', 'to']) next.delete(name);
  if (choice === 'custom' && start) next.set('from', start);
  if (choice === 'custom' && end) next.set('to', end);
  return next;
}

/** The days of a span, if it has whole ones. */
export function wholeDays({ start = '', end = '' }: Span): DayRange | undefined {
  return isDay(start) && isDay(end) ? { start, end } : undefined;
}

/** The time in words: "Last 7 days", "Nov 28, 1:02 PM – 2:02 PM". */
export function spanText({ choice, start, end }: Span, today: string, now: number): string {
  if (choice === 'all') return words.allTime;
  if (choice !== 'custom') return texts.key.usage.ranges[choice];
  const [from, to] = [start, end].map((text) => text && endText(text, today, now));
  if (from && to) return from === to ? from : words.between(from, to);
  if (from) return words.since(from);
  return to ? words.until(to) : words.allTime;
}

function endText(text: string, today: string, now: number): string {
  return SECONDS.test(text) ? formatMinute(Number(text), now) : formatLaterDay(text, today);
}

/** Both ends for inputs of date and time, in the time zone of the browser. Empty if they are open. */
export function typedEnds({ start, end }: TimeSpan, timeZone: string): { from: string; to: string } {
  return { from: inputOf(start, timeZone, 0), to: inputOf(end, timeZone, 1) };
}

function inputOf(text: string | undefined, timeZone: string, addDays: number): string {
  if (!text) return '';
  if (SECONDS.test(text)) return dateTimeInput(Number(text));
  // The last minute of a day is the one before the next day.
  return dateTimeInput(startOfDay(text, timeZone, addDays) - addDays * 60);
}

/** What was typed, as a span. The last minute is included. `undefined` if it ends before it starts. */
export function spanOf({ from, to }: { from: string; to: string }): Span | undefined {
  const [start, last] = [from, to].map(parseDateTime);
  const end = last === undefined ? undefined : last + LAST_OF_MINUTE;
  if (start !== undefined && end !== undefined && end < start) return undefined;
  return { choice: 'custom', start: start?.toString(), end: end?.toString() };
}

/** The hour before `now`. It stays where it is, so that a link to it does. */
export function lastHour(now: number): Span {
  return { choice: 'custom', start: String(now - 3600) };
}
