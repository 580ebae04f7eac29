import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api, call } from './client';
import type { components } from './schema';

export type AccessToken = components['schemas']['AccessTokenBody'];

const accessTokensKey = ['access_tokens'] as const;

/** The own access tokens, newest first. */
export function useAccessTokens() {
  return useQuery({
    queryKey: accessTokensKey,
    queryFn: ({ signal }) => call(api.GET('/api/user/access_tokens', { signal })),
  });
}

/** The answer holds the token, which is shown only this once: `reset` it then, so that it is kept nowhere. */
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
