import { locale } from './locale';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const SPANS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 365 * DAY],
  ['month', 30 * DAY],
  ['week', 7 * DAY],
  ['day', DAY],
  ['hour', HOUR],
  ['minute', MINUTE],
];

const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });
const dateTime = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' });
const day = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' });

/** For example "in 3 days", "5 minutes ago" or "now". Both arguments are Unix seconds. */
export function formatRelative(seconds: number, now: number): string {
  const distance = seconds - now;
  for (const [unit, length] of SPANS) {
    if (Math.abs(distance) >= length) return relative.format(Math.trunc(distance / length), unit);
  }
  return relative.format(0, 'second');
}

/** Date and time in the time zone of the browser. */
export function formatDateTime(seconds: number): string {
  return dateTime.format(seconds * 1000);
}

/** Date in the time zone of the browser. */
export function formatDay(seconds: number): string {
  return day.format(seconds * 1000);
}
