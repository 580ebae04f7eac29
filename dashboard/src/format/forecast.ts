import type { Forecasts } from '../api/forecast';
import { NO_LIMIT, type Period, type PeriodUsage } from '../api/limits';
import { texts } from '../texts';
import { formatLaterDay } from './calendar';

/** States of keys that end on their own. */
const TEMPORARY = ['working', 'key_limit_reached', 'account_limit_reached'];

/** Returns true for a key that does not work until somebody changes something. */
export function isStopped(state: string): boolean {
  return !TEMPORARY.includes(state);
}

/** When the quota and the limits of a key or an account end, a sentence each. A limit that is used up has ended. */
export function forecastSentences(
  { quota, week, month }: Forecasts,
  usage: PeriodUsage,
  today: string,
): string[] {
  const isUsedUp = (period: Period) => usage[period].remaining <= 0 && usage[period].limit !== NO_LIMIT;
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
  if (week && !isUsedUp('week')) sentences.push(weekEnds(week.days));
  if (month && !isUsedUp('month')) sentences.push(monthEnds(month.days));
  return sentences;
}
