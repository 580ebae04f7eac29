import { dateOf } from './time';

/** The latest value that a `datetime-local` input accepts. */
export const MAX_DATE_TIME = '9999-12-31T23:59';

/** The value of a `datetime-local` input, in the time zone of the browser. Empty for a time that it cannot have. */
export function dateTimeInput(seconds: number | undefined): string {
  const dateTime = seconds === undefined ? undefined : dateOf(seconds);
  if (!dateTime) return '';
  const two = (part: number) => String(part).padStart(2, '0');
  const day = `${String(dateTime.getFullYear()).padStart(4, '0')}-${two(dateTime.getMonth() + 1)}-${two(dateTime.getDate())}`;
  return `${day}T${two(dateTime.getHours())}:${two(dateTime.getMinutes())}`;
}

export function parseDateTime(typed: string): number | undefined {
  const milliseconds = new Date(typed).getTime();
  return Number.isNaN(milliseconds) ? undefined : Math.floor(milliseconds / 1000);
}
