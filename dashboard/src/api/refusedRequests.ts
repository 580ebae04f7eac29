import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api, call } from './client';
import type { DayRange } from './dailyUsage';
import { pageParams } from './page';
import type { components } from './schema';
import { tokensKey } from './tokenCache';
import type { UsageScope } from './usageReports';

export type RefusedRequests = components['schemas']['RefusedBody'];
export type RefusedRow = components['schemas']['RefusedRowBody'];
/** Why the ledger refuses a request. A newer server may have more reasons. */
export type RefusalReason = components['schemas']['RefusalReason'];

export interface RefusedOptions {
  scope?: UsageScope;
  /** Absent for the last 30 days of the server. */
  range?: DayRange;
  /** Absent for all tokens, also deleted ones. */
  tokenId?: number;
  /** Absent for all users. Only for the scope `allUsers`. */
  userId?: number;
  /** Starts at 0. Absent for the first 100 rows. */
  page?: number;
}

/** Requests of gateways that were refused, the most frequent reason of a token first. */
export function useRefusedRequests({ scope = 'own', range, tokenId, userId, page }: RefusedOptions) {
  const own = {
    from: range?.start,
    to: range?.end,
    token_id: tokenId?.toString(),
    ...(page !== undefined && pageParams(page)),
  };
  const query = { ...own, user_id: userId?.toString() };
  return useQuery({
    queryKey: scope === 'own' ? [...tokensKey, 'refused', own] : ['admin', 'usage', 'refused', query],
    queryFn: ({ signal }): Promise<RefusedRequests> => {
      const answer =
        scope === 'own'
          ? call(api.GET('/api/usage/refused_requests', { params: { query: own }, signal }))
          : call(api.GET('/api/admin/usage/refused_requests', { params: { query }, signal }));
      return answer as Promise<RefusedRequests>;
    },
    placeholderData: keepPreviousData,
  });
}
