import type { Forecasts } from '../api/forecast';
import { texts } from '../texts';
import { formatLaterDay } from './calendar';

/** When the quota and the limits of a key or an account end, a sentence each. */
export function forecastSentences({ quota, week, month }: Forecasts, today: string): string[] {
  const { lasts, lastsBetween, weekEnds, monthEnds } = texts.common.forecast;
  const sentences: string[] = [];
  if (quota?.runs_out_on) {
    const { runs_out_on, earliest_on, latest_on } = quota;
    const [until, earliest, latest] = [runs_out_on, earliest_on, latest_on].map(
      (day) => day && formatLaterDay(day, today),
    );
    if (until && earliest && latest && earliest !== latest) {
      sentences.push(lastsBetween(until, earliest, latest));
    } else if (until) sentences.push(lasts(until));
  }
  if (week) sentences.push(weekEnds(week.days));
  if (month) sentences.push(monthEnds(month.days));
  return sentences;
}
