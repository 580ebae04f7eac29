import { useQuery } from '@tanstack/react-query';
import { api, call } from './client';
import type { components } from './schema';

export type LockedAccount = components['schemas']['LockedAccountBody'];

/** The accounts at which sign-ins were refused in the last 24 hours, the last one first. */
export function useLockedAccounts() {
  return useQuery({
    queryKey: ['admin', 'locked_accounts'],
    queryFn: ({ signal }) => call(api.GET('/api/admin/locked_accounts', { signal })),
  });
}
