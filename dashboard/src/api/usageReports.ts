import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api, call } from './client';
import type { DayRange, DayUsage } from './dailyUsage';
import type { components } from './schema';
import { tokensKey } from './tokenCache';

export type Report = components['schemas']['ReportBody'];
export type ReportRow = components['schemas']['ReportRowBody'];

interface Options {
  range: DayRange;
  groupBy: 'day' | 'token';
  /** Absent for all tokens, also deleted ones. */
  tokenId?: number;
}

function queryOf({ range, groupBy, tokenId }: Options) {
  return { from: range.start, to: range.end, group_by: groupBy, token_id: tokenId?.toString() };
}

/** The usage of the signed-in user, by day, or by token with the highest spend first. */
export function useUsageReport(options: Options) {
  const query = queryOf(options);
  return useQuery({
    queryKey: [...tokensKey, 'report', query],
    queryFn: ({ signal }): Promise<Report> =>
      call(api.GET('/api/usage', { params: { query }, signal })) as Promise<Report>,
    placeholderData: keepPreviousData,
  });
}

export function daysOf({ rows }: Report): DayUsage[] {
  return rows.map((row) => ({ ...row, date: row.date ?? '' }));
}

/** The address of the usage by day and token as CSV. */
export function usageCsvHref({ start, end }: DayRange): string {
  return `/api/usage?${new URLSearchParams({ from: start, to: end, group_by: 'day,token', format: 'csv' })}`;
}
