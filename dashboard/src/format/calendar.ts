import { locale } from './locale';

// Usage dates are in the time zone of the server. UTC keeps them from shifting to the time zone of the browser.
const weekday = new Intl.DateTimeFormat(locale, { weekday: 'short', timeZone: 'UTC' });
const narrowWeekday = new Intl.DateTimeFormat(locale, { weekday: 'narrow', timeZone: 'UTC' });
const monthAndDay = new Intl.DateTimeFormat(locale, { month: 'short', day: 'numeric', timeZone: 'UTC' });
const day = new Intl.DateTimeFormat(locale, {
  weekday: 'short',
  month: 'short',
  day: 'numeric',
  timeZone: 'UTC',
});

const monthDayAndYear = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' });

/** "Nov 1 – 7" for the days from "2026-11-01" to "2026-11-07", with the year if it is not that of `today`. */
export function formatDays(start: string, end: string, today: string): string {
  const format = start.slice(0, 4) === today.slice(0, 4) ? monthAndDay : monthDayAndYear;
  return format.formatRange(Date.parse(start), Date.parse(end));
}

/** "Nov 21" for "2026-11-21", with the year if it is not that of `today`. */
export function formatLaterDay(date: string, today: string): string {
  return (date.slice(0, 4) === today.slice(0, 4) ? monthAndDay : monthDayAndYear).format(Date.parse(date));
}

/** "Sat" for "2026-11-21". */
export function formatWeekday(date: string): string {
  return weekday.format(Date.parse(date));
}

/** "Sat, Nov 21" for "2026-11-21". */
export function formatDate(date: string): string {
  return day.format(Date.parse(date));
}

/** "S" for "2026-11-21". */
export function formatNarrowWeekday(date: string): string {
  return narrowWeekday.format(Date.parse(date));
}

/** "Nov 21" for "2026-11-21". */
export function formatMonthAndDay(date: string): string {
  return monthAndDay.format(Date.parse(date));
}
