import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api, call } from './client';
import { type DayRange, type DayUsage, daysIn } from './dailyUsage';
import { ApiError } from './error';
import { PAGE_SIZE, pageParams } from './page';
import type { components } from './schema';
import { tokensKey } from './tokenCache';

export type Report = components['schemas']['ReportBody'];
export type ReportRow = components['schemas']['ReportRowBody'];

/** Whose usage: that of the signed-in user, or that of all users, for administrators. */
export type UsageScope = 'own' | 'allUsers';

/** What usage is split by. Users and gateways are only for the scope `allUsers`. */
export type UsageSplit = 'model' | 'token' | 'group' | 'user' | 'gateway';

export interface UsageOptions {
  scope?: UsageScope;
  /** Absent for the last 30 days of the server. */
  range?: DayRange;
  /** Absent for all tokens, also deleted ones. */
  tokenId?: number;
  /** Absent for all users. Only for the scope `allUsers`. */
  userId?: number;
}

type Grouping = UsageSplit | 'user,token';
type Time = 'hour' | 'day';

interface Options extends UsageOptions {
  groupBy: Time | Grouping | `${Time},${Grouping}` | 'month,group,model' | 'month,user,group,model';
  /** Every row is compared with these days. */
  compare?: DayRange;
  /** The largest change of spend comes first. Only in a comparison. */
  byChange?: boolean;
  /** Only these rows. Pages start at 0. */
  page?: { number: number; size: number };
}

function queryOf({ range, groupBy, tokenId, userId, compare, byChange, page }: Options) {
  return {
    from: range?.start,
    to: range?.end,
    group_by: groupBy,
    token_id: tokenId?.toString(),
    user_id: userId?.toString(),
    compare_from: compare?.start,
    compare_to: compare?.end,
    sort: compare && byChange ? 'change' : undefined,
    ...(page && pageParams(page.number, page.size)),
  };
}

function fetchReport({ scope, ...options }: Options, signal: AbortSignal): Promise<Report> {
  const query = queryOf(options);
  const { user_id, ...own } = query;
  const answer =
    scope === 'allUsers'
      ? call(api.GET('/api/admin/usage', { params: { query }, signal }))
      : call(api.GET('/api/usage', { params: { query: own }, signal }));
  return answer as Promise<Report>;
}

function keyOf({ scope, ...options }: UsageOptions, ...rest: unknown[]) {
  const place = scope === 'allUsers' ? ['admin', 'usage'] : [...tokensKey, 'report'];
  return [...place, options, ...rest];
}

/** Usage by day, or by user, token, model or gateway with the highest spend first. */
export function useUsageReport({ groupBy, ...options }: UsageOptions & { groupBy: 'day' | Grouping }) {
  return useQuery({
    queryKey: keyOf(options, groupBy),
    queryFn: ({ signal }) => fetchReport({ ...options, groupBy }, signal),
    placeholderData: keepPreviousData,
  });
}

/** The usage of the same days by hour or day, by what it is split by, and by both. */
export interface SplitReport {
  split: UsageSplit;
  time: Report;
  /** Those with the highest spend. */
  top: Report;
  /** Absent if it has more rows than the server answers. */
  both: Report | undefined;
}

type SplitOptions = UsageOptions & { range: DayRange; split: UsageSplit };

/** Loads all at once, so that they always fit together. `count` is how many have the highest spend. */
export function useSplitReport({ split, count, ...options }: SplitOptions & { count: number }) {
  return useQuery({
    queryKey: keyOf(options, 'split', split),
    queryFn: async ({ signal }): Promise<SplitReport> => {
      const by = groupingOf(options.scope, split);
      const loadBy = async (time: Time) => {
        const [all, both] = await Promise.all([
          fetchReport({ ...options, groupBy: time }, signal),
          fetchReport({ ...options, groupBy: `${time},${by}` }, signal).catch(nothingIfTooLarge),
        ]);
        return { time: all, both };
      };
      const [top, hours] = await Promise.all([
        fetchReport({ ...options, groupBy: by, page: { number: 0, size: count } }, signal),
        daysIn(options.range) <= MAX_DAYS_BY_HOUR ? loadBy('hour').catch(nothingIfTooLarge) : undefined,
      ]);
      // Usage from before an import has no hours.
      const hasHours = hours && (hours.time.total.quota > 0 || top.total.quota === 0);
      return { split, top, ...(hasHours ? hours : await loadBy('day')) };
    },
    placeholderData: keepPreviousData,
  });
}

/** Reports by hour have no more days. */
const MAX_DAYS_BY_HOUR = 2;

/** What was used, beside other days if there was a comparison. */
export interface RankingReport extends Report {
  split: UsageSplit;
}

type RankingOptions = SplitOptions & Pick<Options, 'compare' | 'byChange'>;

/** A page of the report by what usage is split by. Not compared if the server would have too much to read. */
export function useRankingReport({ split, page, ...options }: RankingOptions & { page: number }) {
  return useQuery({
    queryKey: keyOf(options, 'ranking', split, page),
    queryFn: async ({ signal }): Promise<RankingReport> => {
      const wanted: Options = {
        ...options,
        groupBy: groupingOf(options.scope, split),
        page: { number: page, size: PAGE_SIZE },
      };
      const compared = wanted.compare && (await fetchReport(wanted, signal).catch(nothingIfTooLarge));
      const report = compared ?? (await fetchReport({ ...wanted, compare: undefined }, signal));
      return { ...report, split };
    },
    placeholderData: keepPreviousData,
  });
}

function nothingIfTooLarge(error: unknown): undefined {
  if (error instanceof ApiError && error.code === 'range_too_large') return undefined;
  throw error;
}

/** In usage of all users, keys are named with their owners. */
function groupingOf(scope: UsageScope | undefined, split: UsageSplit): Grouping {
  return scope === 'allUsers' && split === 'token' ? 'user,token' : split;
}

export function isByHour({ group_by }: Report): boolean {
  return group_by.includes('hour');
}

/** The day of a row, or the Unix timestamp of its hour. */
export function timeOf({ date, hour }: ReportRow): string {
  return hour === undefined ? (date ?? '') : String(hour);
}

/** The rows of a report by day, or by hour: then `date` is the Unix timestamp of the hour. */
export function daysOf({ rows }: Report): DayUsage[] {
  return rows.map((row) => ({ ...row, date: timeOf(row) }));
}

function csvHref({ scope, ...options }: Options): string {
  const params = new URLSearchParams({ format: 'csv' });
  for (const [name, value] of Object.entries(queryOf(options)))
    if (value !== undefined) params.set(name, value);
  return `${scope === 'allUsers' ? '/api/admin/usage' : '/api/usage'}?${params}`;
}

/** The address of the usage by day or hour and by what it is split by, as CSV. */
export function timeCsvHref({ split, time, ...options }: UsageOptions & { split: UsageSplit; time: Time }) {
  return csvHref({ ...options, groupBy: `${time},${groupingOf(options.scope, split)}` });
}

/** The address of a comparison as CSV. */
export function comparisonCsvHref({ split, ...options }: RankingOptions) {
  return csvHref({ ...options, groupBy: groupingOf(options.scope, split) });
}

/** The address of the usage by month, user, group and model as CSV. Own usage has one user. */
export function monthCsvHref(options: UsageOptions) {
  const groupBy = options.scope === 'allUsers' ? 'month,user,group,model' : 'month,group,model';
  return csvHref({ ...options, groupBy });
}
