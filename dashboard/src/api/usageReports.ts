import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api, call } from './client';
import type { DayRange, DayUsage } from './dailyUsage';
import { ApiError } from './error';
import type { components } from './schema';
import { tokensKey } from './tokenCache';

export type Report = components['schemas']['ReportBody'];
export type ReportRow = components['schemas']['ReportRowBody'];

/** Whose usage: that of the signed-in user, or that of all users, for administrators. */
export type UsageScope = 'own' | 'allUsers';

/** What usage is split by. Users and gateways are only for the scope `allUsers`. */
export type UsageSplit = 'model' | 'token' | 'user' | 'gateway';

export interface UsageOptions {
  scope?: UsageScope;
  /** Absent for the last 30 days of the server. */
  range?: DayRange;
  /** Absent for all tokens, also deleted ones. */
  tokenId?: number;
  /** Absent for all users. Only for the scope `allUsers`. */
  userId?: number;
}

type Grouping = 'day' | UsageSplit | 'user,token';

interface Options extends UsageOptions {
  groupBy: Grouping | `day,${Grouping}`;
}

function queryOf({ range, groupBy, tokenId, userId }: Options) {
  return {
    from: range?.start,
    to: range?.end,
    group_by: groupBy,
    token_id: tokenId?.toString(),
    user_id: userId?.toString(),
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

function keyOf({ scope, ...options }: UsageOptions, ...rest: string[]) {
  const place = scope === 'allUsers' ? ['admin', 'usage'] : [...tokensKey, 'report'];
  return [...place, options, ...rest];
}

/** Usage by day, or by user, token, model or gateway with the highest spend first. */
export function useUsageReport({ groupBy, ...options }: Options) {
  return useQuery({
    queryKey: keyOf(options, groupBy),
    queryFn: ({ signal }) => fetchReport({ ...options, groupBy }, signal),
    placeholderData: keepPreviousData,
  });
}

/** The usage of the same days by day, by what it is split by, and by both. */
export interface SplitReport {
  split: UsageSplit;
  days: Report;
  ranking: Report;
  /** Absent if it has more rows than the server answers. */
  both: Report | undefined;
}

/** Loads all at once, so that they always fit together. */
export function useSplitReport({ split, ...options }: UsageOptions & { split: UsageSplit }) {
  return useQuery({
    queryKey: keyOf(options, 'split', split),
    queryFn: async ({ signal }): Promise<SplitReport> => {
      const by = groupingOf(options.scope, split);
      const [days, ranking, both] = await Promise.all([
        fetchReport({ ...options, groupBy: 'day' }, signal),
        fetchReport({ ...options, groupBy: by }, signal),
        fetchReport({ ...options, groupBy: `day,${by}` }, signal).catch(nothingIfTooLarge),
      ]);
      return { split, days, ranking, both };
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

export function daysOf({ rows }: Report): DayUsage[] {
  return rows.map((row) => ({ ...row, date: row.date ?? '' }));
}

/** The address of the usage by day and by what it is split by, as CSV. */
export function usageCsvHref({ scope, split, ...options }: UsageOptions & { split: UsageSplit }): string {
  const query = queryOf({ ...options, groupBy: `day,${groupingOf(scope, split)}` });
  const params = new URLSearchParams({ format: 'csv' });
  for (const [name, value] of Object.entries(query)) if (value !== undefined) params.set(name, value);
  return `${scope === 'allUsers' ? '/api/admin/usage' : '/api/usage'}?${params}`;
}
