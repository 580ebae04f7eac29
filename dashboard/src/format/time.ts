import { texts } from '../texts';
import { locale } from './locale';

const LAG = 30;
const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
// In days.
const TWO_UNITS_BELOW = 10;
const MONTH = 30;
const YEAR = 365;
const FIRST = Date.parse('0001-01-01T00:00:00Z') / 1000;
const LAST = Date.parse('9999-12-31T23:59:59Z') / 1000;

const dateTime = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' });
const moment = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' });
const day = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' });
const zoned = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'long' });
const zone = new Intl.DateTimeFormat(locale, { timeZoneName: 'short' });

const clock = { month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit' } as const;
const minute = new Intl.DateTimeFormat(locale, clock);
const second = new Intl.DateTimeFormat(locale, { ...clock, second: '2-digit' });

/** To the last unit that is shown: hours from one day, days from ten. Minutes are rounded down. */
function rounded(seconds: number): number {
  if (seconds < DAY) return seconds;
  const unit = Math.round(seconds / HOUR) * HOUR < TWO_UNITS_BELOW * DAY ? HOUR : DAY;
  return Math.round(seconds / unit) * unit;
}

/** For example "7 d 21 h": two units below 10 days, then one. 29 d 23 h are "30 d". */
export function formatDuration(exact: number): string {
  const { years, months, days, hours, minutes, lessThanAMinute } = texts.common.duration;
  const seconds = rounded(exact);
  const day = Math.floor(seconds / DAY);
  const hour = Math.floor((seconds % DAY) / HOUR);
  const minute = Math.floor((seconds % HOUR) / MINUTE);
  if (day >= YEAR) return years(Math.floor(day / YEAR));
  if (day >= 2 * MONTH) return months(Math.floor(day / MONTH));
  if (day >= TWO_UNITS_BELOW || (day > 0 && hour === 0)) return days(day);
  if (day > 0) return `${days(day)} ${hours(hour)}`;
  if (hour > 0) return minute > 0 ? `${hours(hour)} ${minutes(minute)}` : hours(hour);
  return minute > 0 ? minutes(minute) : lessThanAMinute;
}

/** For example "in 2 d 3 h", "5 min ago" or "just now". Both arguments are Unix seconds. */
export function formatRelative(seconds: number, now: number): string {
  const { justNow, ahead, ago } = texts.common;
  if (!dateOf(seconds)) return outsideCalendar(seconds);
  const distance = Math.abs(seconds - now);
  const isAhead = seconds > now;
  // `now` lags by up to 30 seconds (see useNow), so what just happened can lie ahead of it.
  if (distance < MINUTE && !(isAhead && distance > LAG)) return justNow;
  return (isAhead ? ahead : ago)(formatDuration(distance));
}

/** Returns false for the values that mean never: absent, 0 and -1. */
export function isTime(seconds: number | null | undefined): seconds is number {
  return Boolean(seconds) && seconds !== -1;
}

/**
 * A time of the API as a date. `undefined` outside of the years 1 to 9999, in which all inputs and formats work: `Date`
 * and `Intl` throw for times that are too far away, and the API can have any number of 64 bits.
 */
export function dateOf(seconds: number): Date | undefined {
  return seconds >= FIRST && seconds <= LAST ? new Date(seconds * 1000) : undefined;
}

function outsideCalendar(seconds: number): string {
  return seconds > LAST ? texts.common.afterCalendar : texts.common.beforeCalendar;
}

function format(formatter: Intl.DateTimeFormat, seconds: number): string {
  const date = dateOf(seconds);
  if (date) return formatter.format(date);
  // JSON has rounded larger numbers.
  return Number.isSafeInteger(seconds)
    ? texts.common.timeOutside(String(seconds), outsideCalendar(seconds))
    : outsideCalendar(seconds);
}

/** Date and time in the time zone of the browser. */
export function formatDateTime(seconds: number): string {
  return format(dateTime, seconds);
}

/** Date and time to the second, in the time zone of the browser. */
export function formatMoment(seconds: number): string {
  return format(moment, seconds);
}

/** The same with the time zone: "Mar 10, 2026, 2:02:07 PM GMT+1". */
export function formatZonedMoment(seconds: number): string {
  return format(zoned, seconds);
}

/** The time zone of the browser at this time, such as "UTC" or "GMT+1". */
export function zoneName(seconds: number): string {
  const date = dateOf(seconds);
  return (date && zone.formatToParts(date).find(({ type }) => type === 'timeZoneName')?.value) ?? '';
}

/** "Mar 10, 2:02 PM", in the time zone of the browser, with the year if it is not that of `now`. */
export function formatMinute(seconds: number, now: number): string {
  return format(isSameYear(seconds, now) ? minute : dateTime, seconds);
}

/** "Mar 10, 2:02:07 PM", in the time zone of the browser; in another year than `now` with the year, to the minute. */
export function formatSecond(seconds: number, now: number): string {
  return format(isSameYear(seconds, now) ? second : dateTime, seconds);
}

function isSameYear(seconds: number, now: number): boolean {
  return dateOf(seconds)?.getFullYear() === dateOf(now)?.getFullYear();
}

/** Date in the time zone of the browser. */
export function formatDay(seconds: number): string {
  return format(day, seconds);
}
