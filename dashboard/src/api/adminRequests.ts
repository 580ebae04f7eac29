import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { grantQuota } from './adminUsers';
import { api, call } from './client';
import { ApiError } from './error';
import { pageParams } from './page';
import type { components } from './schema';

export type ApiRequest = components['schemas']['ApiRequestBody'];
export type Decision = 'approve' | 'refuse';

const requestsKey = ['admin', 'requests'] as const;
const COUNT_INTERVAL_MS = 60_000;

/** An empty `state` means all requests. */
export function useRequests(state: string, page: number) {
  return useQuery({
    queryKey: [...requestsKey, 'list', state, page],
    queryFn: ({ signal }) =>
      call(
        api.GET('/api/admin/token_api_requests', {
          params: { query: { state, ...pageParams(page) } },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
  });
}

export function usePendingRequestCount() {
  return useQuery({
    queryKey: [...requestsKey, 'pending count'],
    queryFn: ({ signal }) =>
      call(
        api.GET('/api/admin/token_api_requests', {
          params: { query: { state: 'pending', size: '1' } },
          signal,
        }),
      ),
    select: (page) => page.total,
    staleTime: COUNT_INTERVAL_MS,
    refetchInterval: COUNT_INTERVAL_MS,
  });
}

export interface Answer {
  request: Pick<ApiRequest, 'id' | 'user_id'>;
  decision: Decision;
  /** Shown to the user. */
  note: string;
  /** For the audit log of the wallet. */
  topUpNote?: string;
  /** Quota units to add to the wallet of the user after an approval, or 0. */
  topUp: number;
}

export interface Answered {
  /** The request is answered, but adding to the wallet failed. */
  topUpError?: Error;
}

/** Answers the request, and then adds to the wallet. Fails only if the request was not answered. */
export async function answerRequest({
  request,
  decision,
  note,
  topUp,
  topUpNote,
}: Answer): Promise<Answered> {
  const answer = { params: { path: { id: request.id } }, body: { decision, note } };
  await call(api.POST('/api/admin/token_api_requests/{id}', answer));
  if (decision !== 'approve' || topUp === 0) return {};
  try {
    await grantQuota(request.user_id, { delta: topUp, note: topUpNote });
    return {};
  } catch (error) {
    return { topUpError: error as Error };
  }
}

/** Returns true if the server refused, so that nothing changed. After other failures it may have done its work. */
export function isRefusal(error: Error): boolean {
  return error instanceof ApiError && error.status >= 400 && error.status < 500;
}

export function useAnswerRequest() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: answerRequest,
    // Also after a failure: another administrator may have answered the request.
    onSettled: () => {
      client.invalidateQueries({ queryKey: ['admin'] });
    },
  });
}
