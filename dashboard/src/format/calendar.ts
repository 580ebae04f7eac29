import { locale } from './locale';

// The days of usage are days of the server's time zone; they must not shift to the reader's.
const weekday = new Intl.DateTimeFormat(locale, { weekday: 'short', timeZone: 'UTC' });
const day = new Intl.DateTimeFormat(locale, {
  weekday: 'short',
  month: 'short',
  day: 'numeric',
  timeZone: 'UTC',
});

/** "Sat" for "2026-11-21". */
export function formatWeekday(date: string): string {
  return weekday.format(Date.parse(date));
}

/** "Sat, Nov 21" for "2026-11-21". */
export function formatDate(date: string): string {
  return day.format(Date.parse(date));
}
