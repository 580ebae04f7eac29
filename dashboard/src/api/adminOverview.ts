import { useQuery } from '@tanstack/react-query';
import { api, call } from './client';

const REFRESH_MS = 30_000;

/** The keys of all users by state, and what was refused in the last hour. Reloaded regularly. */
export function useAllUsersOverview() {
  return useQuery({
    queryKey: ['admin', 'overview'],
    queryFn: ({ signal }) => call(api.GET('/api/admin/overview', { signal })),
    staleTime: 0,
    refetchInterval: REFRESH_MS,
  });
}
