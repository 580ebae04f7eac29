import { useQuery } from '@tanstack/react-query';
import { api, call } from './client';
import type { components } from './schema';

/** Charges of one model that were their holds for one reason, in the last hour. */
export type HeldCharges = components['schemas']['HeldChargesBody'];

const REFRESH_MS = 30_000;

/** The keys of all users by state, and what was refused or charged its hold in the last hour. Reloaded regularly. */
export function useAllUsersOverview() {
  return useQuery({
    queryKey: ['admin', 'overview'],
    queryFn: ({ signal }) => call(api.GET('/api/admin/overview', { signal })),
    staleTime: 0,
    refetchInterval: REFRESH_MS,
  });
}
