import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api, call } from './client';
import type { components } from './schema';

export type AccessToken = components['schemas']['AccessTokenBody'];

const accessTokensKey = ['access_tokens'] as const;

/** The access tokens of the signed-in user, newest first. */
export function useAccessTokens() {
  return useQuery({
    queryKey: accessTokensKey,
    queryFn: ({ signal }) => call(api.GET('/api/user/access_tokens', { signal })),
  });
}

/** The response contains the token. Call `reset` after showing it, so that it does not stay in memory. */
export function useCreateAccessToken() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: { name: string; expires_at: number }) =>
      call(api.POST('/api/user/access_tokens', { body })),
    gcTime: 0,
    onSuccess: () => client.invalidateQueries({ queryKey: accessTokensKey }),
  });
}

export function useRevokeAccessToken() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: number) =>
      call(api.DELETE('/api/user/access_tokens/{id}', { params: { path: { id } } })),
    onSuccess: () => client.invalidateQueries({ queryKey: accessTokensKey }),
  });
}
