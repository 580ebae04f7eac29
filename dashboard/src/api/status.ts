import { useQuery } from '@tanstack/react-query';
import { api, call } from './client';

/** Name, version and settings of the service. They change only when the service restarts. */
export function useStatus() {
  return useQuery({
    queryKey: ['status'],
    queryFn: ({ signal }) => call(api.GET('/api/status', { signal })),
    staleTime: Number.POSITIVE_INFINITY,
  });
}
