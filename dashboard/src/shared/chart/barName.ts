import { formatDate } from '../../format/calendar';
import { formatHourAndDay } from '../../format/hour';

/** The name of a day, or, with a zone, of the hour that starts at this Unix timestamp. */
export function barName(date: string, zone: string | undefined): string {
  return zone === undefined ? formatDate(date) : formatHourAndDay(Number(date), zone);
}
