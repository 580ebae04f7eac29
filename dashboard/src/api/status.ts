import { queryOptions, useQuery } from '@tanstack/react-query';
import { api, call } from './client';

export const statusQuery = queryOptions({
  queryKey: ['status'],
  queryFn: ({ signal }) => call(api.GET('/api/status', { signal })),
  staleTime: Number.POSITIVE_INFINITY,
});

/** Name, version and settings of the service. They change only when the service restarts. */
export function useStatus() {
  return useQuery(statusQuery);
}
