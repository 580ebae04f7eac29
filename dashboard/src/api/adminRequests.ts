import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api, call } from './client';
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

export function useDecideRequest() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ id, decision, note }: { id: number; decision: Decision; note: string }) =>
      call(
        api.POST('/api/admin/token_api_requests/{id}', {
          params: { path: { id } },
          body: { decision, note },
        }),
      ),
    // Also after a failure: another administrator may have answered the request.
    onSettled: () => {
      client.invalidateQueries({ queryKey: ['admin'] });
    },
  });
}
