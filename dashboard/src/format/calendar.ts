import { locale } from './locale';

// Usage dates are in the time zone of the server. UTC keeps them from shifting to the time zone of the browser.
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
