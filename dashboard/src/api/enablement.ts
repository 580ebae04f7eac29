import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { api, call } from './client';
import type { components } from './schema';
import { sessionKey, useUser } from './session';

export type Enablement = components['schemas']['EnablementBody'];
export type EnablementRequest = components['schemas']['ApiRequestBody'];

const enablementKey = ['enablement'] as const;
const POLL_INTERVAL_MS = 10_000;

/** How the own enablement stands; while it is not granted, asked again and again, so that an answer shows by itself. */
export function useEnablement() {
  const client = useQueryClient();
  const user = useUser();
  const enablement = useQuery({
    queryKey: enablementKey,
    queryFn: ({ signal }) => call(api.GET('/api/user/token_api_request', { signal })),
    refetchInterval: ({ state }) => (state.data?.enabled ? false : POLL_INTERVAL_MS),
  });

  const enabled = enablement.data?.enabled;
  useEffect(() => {
    if (enabled !== undefined && enabled !== user.token_api_enabled) {
      client.setQueryData(sessionKey, { ...user, token_api_enabled: enabled });
    }
  }, [enabled, user, client]);

  return enablement;
}

export function useRequestEnablement() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: { reason: string; account: string }) =>
      call(api.POST('/api/user/token_api_request', { body })),
    // Also after a refusal: it may say that somebody asked in another window, or that access is granted already.
    onSettled: () => client.invalidateQueries({ queryKey: enablementKey }),
  });
}
