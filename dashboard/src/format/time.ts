import { texts } from '../texts';
import { locale } from './locale';

const LAG = 30;
const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Each unit, its length, and where the next unit begins. */
const SPANS: [Intl.RelativeTimeFormatUnit, number, number][] = [
  ['minute', MINUTE, HOUR],
  ['hour', HOUR, DAY],
  ['day', DAY, 7 * DAY],
  ['week', 7 * DAY, 30 * DAY],
  ['month', 30 * DAY, 365 * DAY],
  ['year', 365 * DAY, Number.POSITIVE_INFINITY],
];

const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });
const dateTime = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' });
const moment = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' });
const day = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' });

/** For example "in 3 days", "5 minutes ago" or "just now", rounded. Both arguments are Unix seconds. */
export function formatRelative(seconds: number, now: number): string {
  const distance = Math.abs(seconds - now);
  const sign = Math.sign(seconds - now);
  // `now` lags by up to 30 seconds (see useNow), so what just happened can lie ahead of it.
  if (distance < MINUTE) return sign > 0 && distance > LAG ? texts.common.soon : texts.common.justNow;
  for (const [unit, length, next] of SPANS) {
    const count = Math.round(distance / length);
    if (count * length < next) return relative.format(sign * count, unit);
  }
  return '';
}

/** Date and time in the time zone of the browser. */
export function formatDateTime(seconds: number): string {
  return dateTime.format(seconds * 1000);
}

/** Date and time to the second, in the time zone of the browser. */
export function formatMoment(seconds: number): string {
  return moment.format(seconds * 1000);
}

/** Date in the time zone of the browser. */
export function formatDay(seconds: number): string {
  return day.format(seconds * 1000);
}
