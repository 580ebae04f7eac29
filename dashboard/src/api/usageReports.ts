import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api, call } from './client';
import type { DayRange, DayUsage } from './dailyUsage';
import type { components } from './schema';
import { tokensKey } from './tokenCache';

export type Report = components['schemas']['ReportBody'];
export type ReportRow = components['schemas']['ReportRowBody'];

/** Whose tokens: those of the signed-in user, or those of everyone, for administrators. */
export type UsageScope = 'own' | 'everyone';

interface Options {
  scope?: UsageScope;
  /** Absent for the last 30 days of the server. */
  range?: DayRange;
  groupBy: 'day' | 'token' | 'user' | 'user,token' | 'model';
  /** Absent for all tokens, also deleted ones. */
  tokenId?: number;
  /** Absent for all users. Only for the scope `everyone`. */
  userId?: number;
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

/** Usage by day, or by user, token or model with the highest spend first. */
export function useUsageReport({ scope = 'own', ...options }: Options) {
  const query = queryOf(options);
  return useQuery({
    queryKey: scope === 'own' ? [...tokensKey, 'report', query] : ['admin', 'usage', query],
    queryFn: ({ signal }): Promise<Report> => {
      const { user_id, ...own } = query;
      const answer =
        scope === 'own'
          ? call(api.GET('/api/usage', { params: { query: own }, signal }))
          : call(api.GET('/api/admin/usage', { params: { query }, signal }));
      return answer as Promise<Report>;
    },
    placeholderData: keepPreviousData,
  });
}

export function daysOf({ rows }: Report): DayUsage[] {
  return rows.map((row) => ({ ...row, date: row.date ?? '' }));
}

/** The address of the usage by day, token and model as CSV. */
export function usageCsvHref({ start, end }: DayRange): string {
  return `/api/usage?${new URLSearchParams({ from: start, to: end, group_by: 'day,token,model', format: 'csv' })}`;
}

/** The address of the usage of everyone, or of one user, by day, user, token and model as CSV. */
export function allUsageCsvHref({ start, end }: DayRange, userId: number | undefined): string {
  const params = new URLSearchParams({
    from: start,
    to: end,
    group_by: 'day,user,token,model',
    format: 'csv',
  });
  if (userId !== undefined) params.set('user_id', String(userId));
  return `/api/admin/usage?${params}`;
}
