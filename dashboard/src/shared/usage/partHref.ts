import type { DayRange } from '../../api/dailyUsage';
import type { ReportRow, UsageOptions } from '../../api/usageReports';
import { readComparison, withComparison } from './comparison';
import { withRange } from './range';
import { requestsHref } from './requestFilters';

/** The last second of an hour. */
const LAST_OF_HOUR = 3599;

/** What the address of a page of usage has of its days. */
const DAYS = ['range', 'from', 'to', 'compare', 'compare_from', 'compare_to'];

interface Options extends Pick<UsageOptions, 'scope' | 'tokenId' | 'userId'> {
  range: DayRange;
}

/**
 * The page of what the spend of a row is made of, in the same days. Absent if there is none.
 * @param params The query string of the page of the row.
 */
export function partHref(
  row: ReportRow,
  { scope = 'own', range, tokenId, userId }: Options,
  params: URLSearchParams,
): string | undefined {
  const days = [...params].filter(([name]) => DAYS.includes(name));
  const { token_id, user_id, model, gateway_id } = row;
  if (token_id != null) {
    return `${scope === 'own' ? '/keys' : '/admin/tokens'}/${token_id}?${new URLSearchParams(days)}`;
  }
  if (user_id != null) {
    return `/admin/usage?${new URLSearchParams([...days, ['user_id', String(user_id)]])}`;
  }
  // Requests without a model or a gateway cannot be searched for.
  if (!model && gateway_id == null) return undefined;
  return requestsHref(scope, { token_id: tokenId, user_id: userId, model, gateway_id, ...ends(range) });
}

/** The address with one day instead of all. */
export function dayHref(path: string, params: URLSearchParams, day: string): string {
  const next = withRange(params, { choice: 'custom', typed: { start: day, end: day } });
  const comparison = readComparison(next);
  // Chosen days were meant for all days.
  const isChosen = comparison.choice === 'custom';
  return `${path}?${isChosen ? withComparison(next, { ...comparison, choice: 'before' }) : next}`;
}

/** The requests of a day, or of the hour that starts at this Unix timestamp. */
export function requestsOf(time: string, { scope = 'own', tokenId, userId }: Options): string {
  const isDay = time.includes('-');
  const range = { start: time, end: isDay ? time : String(Number(time) + LAST_OF_HOUR) };
  return requestsHref(scope, { token_id: tokenId, user_id: userId, ...ends(range) });
}

/** A range in the address of requests: days or Unix timestamps. */
function ends({ start, end }: DayRange) {
  return { range: 'custom', from: start, to: end };
}
