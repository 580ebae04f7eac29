import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { api, call } from './client';
import type { components } from './schema';
import { sessionKey, useUser } from './session';

export type Enablement = components['schemas']['EnablementBody'];
export type EnablementRequest = components['schemas']['ApiRequestBody'];

const enablementKey = ['enablement'] as const;
const POLL_INTERVAL_MS = 10_000;

/** The API access of the signed-in user. Polls until access is granted. */
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
    // Also after a failure: the request may exist already, or access may be granted.
    onSettled: () => client.invalidateQueries({ queryKey: enablementKey }),
  });
}
