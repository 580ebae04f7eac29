import { useQuery } from '@tanstack/react-query';
import { api, call } from './client';
import type { components } from './schema';
import { sessionQuery } from './session';
import { tokensKey } from './tokenCache';

export type Overview = components['schemas']['OverviewBody'];
/** Requests that were refused in the last hour, by token and reason. */
export type RecentRefusals = components['schemas']['RecentRefusalsBody'];
export type Attention = components['schemas']['AttentionBody'];

const REFRESH_MS = 30_000;

/** The overview and the wallet of the signed-in user, reloaded regularly. */
export function useOverview() {
  useQuery({ ...sessionQuery, refetchInterval: REFRESH_MS });
  return useQuery({
    queryKey: [...tokensKey, 'overview'],
    queryFn: ({ signal }) => call(api.GET('/api/user/self/overview', { signal })),
    staleTime: 0,
    refetchInterval: REFRESH_MS,
  });
}
