import { locale } from './locale';

/** "2 PM" for the Unix timestamp of an hour, on the clocks of a zone. */
export function formatHour(seconds: number, timeZone: string): string {
  return new Intl.DateTimeFormat(locale, { hour: 'numeric', timeZone }).format(seconds * 1000);
}

/**
 * "Sat, Nov 21, 2:00 PM GMT+9" for the same. When clocks are set back, the same hour comes twice, so it has the name of
 * its zone.
 */
export function formatHourAndDay(seconds: number, timeZone: string): string {
  const format = new Intl.DateTimeFormat(locale, {
    weekday: 'short',
    month: 'short',
    day: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
    timeZoneName: 'short',
    timeZone,
  });
  return format.format(seconds * 1000);
}
