import { useQuery } from '@tanstack/react-query';
import { api, call } from './client';
import type { components } from './schema';

export type System = components['schemas']['SystemBody'];
export type ServerOfSystem = components['schemas']['ServerBody'];

const REFRESH_MS = 5_000;

/** What all servers, the database and the ledger are doing. Reloaded while the page is visible. */
export function useSystem() {
  return useQuery({
    queryKey: ['admin', 'system'],
    queryFn: ({ signal }) => call(api.GET('/api/admin/system', { signal })),
    staleTime: 0,
    refetchInterval: REFRESH_MS,
  });
}
