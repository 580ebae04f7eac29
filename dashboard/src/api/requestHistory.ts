import { useInfiniteQuery } from '@tanstack/react-query';
import { api, call } from './client';
import type { DayRange } from './dailyUsage';
import type { components } from './schema';
import { tokensKey } from './tokenCache';
import type { UsageScope } from './usageReports';

export type PastRequest = components['schemas']['PastRequestBody'];
/** A request with a key of this service. */
export type KnownRequest = PastRequest &
  Record<'token_id' | 'user_id', number> &
  Record<'token_name' | 'username', string>;
type RequestsPage = components['schemas']['RequestsBody'];

export interface RequestOptions {
  scope?: UsageScope;
  range: DayRange;
  /** Absent for all tokens, also deleted ones. */
  tokenId?: number;
  /** Absent for all users. Only for the scope `everyone`. */
  userId?: number;
  /** Empty for all models. */
  model: string;
  /** Empty for all requests. */
  requestId: string;
  /** Empty for both. */
  outcome: '' | 'charged' | 'refused';
}

const PAGE_SIZE = '20';

/** The address of all these requests as CSV. */
export function requestsCsvHref(options: RequestOptions): string {
  const { scope = 'own', range, tokenId, userId, model, requestId, outcome } = options;
  const params = new URLSearchParams({
    from: range.start,
    to: range.end,
    model,
    request_id: requestId,
    outcome,
    format: 'csv',
  });
  if (tokenId !== undefined) params.set('token_id', String(tokenId));
  if (userId !== undefined) params.set('user_id', String(userId));
  return `${scope === 'own' ? '/api/usage/requests' : '/api/admin/usage/requests'}?${params}`;
}

/** Requests that were charged or refused, newest first, page by page. */
export function useRequestHistory({
  scope = 'own',
  range,
  tokenId,
  userId,
  model,
  requestId,
  outcome,
}: RequestOptions) {
  const own = {
    from: range.start,
    to: range.end,
    token_id: tokenId?.toString(),
    model,
    request_id: requestId,
    outcome,
    size: PAGE_SIZE,
  };
  const query = { ...own, user_id: userId?.toString() };
  return useInfiniteQuery({
    queryKey: scope === 'own' ? [...tokensKey, 'requests', own] : ['admin', 'usage', 'requests', query],
    queryFn: ({ signal, pageParam: after }): Promise<RequestsPage> => {
      const answer =
        scope === 'own'
          ? call(api.GET('/api/usage/requests', { params: { query: { ...own, after } }, signal }))
          : call(api.GET('/api/admin/usage/requests', { params: { query: { ...query, after } }, signal }));
      return answer as Promise<RequestsPage>;
    },
    initialPageParam: '',
    getNextPageParam: ({ next }) => next ?? undefined,
  });
}

export function isKnown(request: PastRequest): request is KnownRequest {
  return request.token_id !== null;
}
