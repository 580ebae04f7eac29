import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { api, call } from './client';
import type { components } from './schema';
import { tokensKey } from './tokenCache';
import type { UsageScope } from './usageReports';

export type PastRequest = components['schemas']['PastRequestBody'];
/** A request with a key of this service. */
type KnownRequest = PastRequest &
  Record<'token_id' | 'user_id', number> &
  Record<'token_name' | 'username', string>;
export type Refusal = NonNullable<PastRequest['refusal']>;
type RequestsPage = components['schemas']['RequestsBody'];

/** Days of the server, such as "2026-03-10", or Unix seconds, both included. An absent end is open. */
export interface TimeSpan {
  start?: string;
  end?: string;
}

export interface RequestOptions {
  scope?: UsageScope;
  /** Absent for all days that are kept. */
  range?: TimeSpan;
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
}

const PAGE_SIZE = 20;

function queryOf({ range, tokenId, model, requestId, outcome, reason }: RequestOptions) {
  return {
    from: range?.start,
    to: range?.end,
    token_id: tokenId?.toString(),
    model,
    request_id: requestId,
    outcome,
    reason,
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

type Query = ReturnType<typeof queryOf> & ReturnType<typeof allUsersQuery> & { size: string };

function fetchPage(
  scope: UsageScope,
  query: Partial<Query> & { id?: string; after?: string },
  signal: AbortSignal,
) {
  const answer =
    scope === 'own'
      ? call(api.GET('/api/usage/requests', { params: { query }, signal }))
      : call(api.GET('/api/admin/usage/requests', { params: { query }, signal }));
  return answer as Promise<RequestsPage>;
}

function keyOf(scope: UsageScope, ...rest: unknown[]) {
  return scope === 'own' ? [...tokensKey, 'requests', ...rest] : ['admin', 'usage', 'requests', ...rest];
}

/** Requests that were charged or refused, newest first, page by page. */
export function useRequestHistory(options: RequestOptions, size = PAGE_SIZE) {
  const { scope = 'own' } = options;
  const own = { ...queryOf(options), size: String(size) };
  const query = scope === 'own' ? own : { ...own, ...allUsersQuery(options) };
  return useInfiniteQuery({
    queryKey: keyOf(scope, query),
    queryFn: ({ signal, pageParam: after }) => fetchPage(scope, { ...query, after }, signal),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next ?? undefined,
  });
}

/** One request with all that is known of it; null if there is none. `listed` is shown until it is there. */
export function useRequest(scope: UsageScope, id: string | undefined, listed?: PastRequest) {
  return useQuery({
    queryKey: keyOf(scope, 'one', id),
    queryFn: async ({ signal }) => (await fetchPage(scope, { id }, signal)).items[0] ?? null,
    enabled: id !== undefined,
    placeholderData: listed,
  });
}

/** The requests of all days with this id of a gateway. Sends nothing without one. */
export function useRequestsById(scope: UsageScope, requestId: string | undefined, size: number) {
  const query = { request_id: requestId, size: String(size) };
  return useQuery({
    queryKey: keyOf(scope, 'by id', query),
    queryFn: ({ signal }) => fetchPage(scope, query, signal),
    enabled: requestId !== undefined,
  });
}

export function isKnown(request: PastRequest): request is KnownRequest {
  return request.token_id !== null;
}
