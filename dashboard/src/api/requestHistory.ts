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
  /** Absent for all days that are kept. */
  range?: DayRange;
  /** Absent for all tokens, also deleted ones. */
  tokenId?: number;
  /** Absent for all users. Only for the scope `allUsers`. */
  userId?: number;
  /** Absent for all gateways. Only for the scope `allUsers`. */
  gatewayId?: number;
  model?: string;
  requestId?: string;
  outcome?: '' | 'charged' | 'refused' | 'imported';
  /** Only what was refused for this reason. */
  reason?: string;
  /** Only this request. */
  id?: string;
}

const PAGE_SIZE = 20;

function queryOf({ range, tokenId, model, requestId, outcome, reason, id }: RequestOptions) {
  return {
    from: range?.start,
    to: range?.end,
    token_id: tokenId?.toString(),
    model,
    request_id: requestId,
    outcome,
    reason,
    id,
  };
}

/** The filters that only administrators have: others do not see a list of gateways. */
function allUsersQuery({ userId, gatewayId }: RequestOptions) {
  return { user_id: userId?.toString(), gateway_id: gatewayId?.toString() };
}

/** The address of all these requests as CSV. */
export function requestsCsvHref(options: RequestOptions): string {
  const allUsers = options.scope === 'allUsers' ? allUsersQuery(options) : {};
  const query = { ...queryOf(options), ...allUsers, format: 'csv' };
  const params = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const path = options.scope === 'allUsers' ? '/api/admin/usage/requests' : '/api/usage/requests';
  return `${path}?${new URLSearchParams(params)}`;
}

/** Requests that were charged or refused, newest first, page by page. */
export function useRequestHistory(options: RequestOptions, size = PAGE_SIZE) {
  const { scope = 'own' } = options;
  const own = { ...queryOf(options), size: String(size) };
  const query = { ...own, ...allUsersQuery(options) };
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
