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

/** The text itself if it is no date. */
function formatted(formatter: Intl.DateTimeFormat, date: string): string {
  const milliseconds = Date.parse(date);
  return Number.isNaN(milliseconds) ? date : formatter.format(milliseconds);
}

/** "Nov 1 – 7" for the days from "2026-11-01" to "2026-11-07", with the year if it is not that of `today`. */
export function formatDays(start: string, end: string, today: string): string {
  const format = start.slice(0, 4) === today.slice(0, 4) ? monthAndDay : monthDayAndYear;
  const [from, to] = [Date.parse(start), Date.parse(end)];
  return Number.isNaN(from + to) ? `${start} – ${end}` : format.formatRange(from, to);
}

/** "Nov 21" for "2026-11-21", with the year if it is not that of `today`. */
export function formatLaterDay(date: string, today: string): string {
  return formatted(date.slice(0, 4) === today.slice(0, 4) ? monthAndDay : monthDayAndYear, date);
}

/** "Sat" for "2026-11-21". */
export function formatWeekday(date: string): string {
  return formatted(weekday, date);
}

/** "Sat, Nov 21" for "2026-11-21". */
export function formatDate(date: string): string {
  return formatted(day, date);
}

/** "S" for "2026-11-21". */
export function formatNarrowWeekday(date: string): string {
  return formatted(narrowWeekday, date);
}

/** "Nov 21" for "2026-11-21". */
export function formatMonthAndDay(date: string): string {
  return formatted(monthAndDay, date);
}
