import { useQuery } from '@tanstack/react-query';
import { api, call } from './client';

/** What this service is, and what is open. It changes only when the operator restarts it. */
export function useStatus() {
  return useQuery({
    queryKey: ['status'],
    queryFn: ({ signal }) => call(api.GET('/api/status', { signal })),
    staleTime: Number.POSITIVE_INFINITY,
  });
}
