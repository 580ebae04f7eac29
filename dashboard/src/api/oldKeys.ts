import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api, call } from './client';
import type { components } from './schema';
import { tokensKey } from './tokenCache';
import type { Token } from './tokens';

/** A key that a rotation replaced. */
export type OldKey = components['schemas']['OldKeyBody'];
export type Rotated = components['schemas']['RotatedBody'];

/** How long the replaced key works. */
export interface Grace {
  grace_seconds: number;
  /** When these seconds begin: at once, or with the first use of the new key. */
  grace_from: 'first_use' | 'now';
}

/** The replaced keys of a token, the last rotation first. */
export interface OldKeys {
  working: OldKey[];
  /** For 90 days after their end. */
  ended: OldKey[];
}

const REFETCH_MS = 30_000;
const SECOND_MS = 1000;

const oldKeysKey = (tokenId: number) => [...tokensKey, 'old_keys', tokenId] as const;

/** Loaded again while old keys work, and when the next one ends. Without any, only a rotation changes them. */
export function useOldKeys(tokenId: number) {
  return useQuery({
    queryKey: oldKeysKey(tokenId),
    queryFn: async ({ signal }): Promise<OldKeys> => {
      const list = (query: { ended?: string }) =>
        call(api.GET('/api/token/{id}/old_keys', { params: { path: { id: tokenId }, query }, signal }));
      const [working, ended] = await Promise.all([list({}), list({ ended: '1' })]);
      return { working, ended };
    },
    refetchInterval: ({ state }) => refetchInterval(state.data?.working ?? [], Date.now()),
  });
}

/** Milliseconds until the keys are loaded again. */
export function refetchInterval(working: OldKey[], now: number): number | false {
  if (working.length === 0) return false;
  const untilEnds = working.map(({ expires_at }) => (expires_at ? expires_at * 1000 - now : REFETCH_MS));
  return Math.max(SECOND_MS, Math.min(REFETCH_MS, ...untilEnds) + SECOND_MS);
}

/** The response contains the new key. Call `reset` after showing it, so that it does not stay in memory. */
export function useRotateToken() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ of: { id }, grace }: { of: Token; grace: Grace }): Promise<Rotated> =>
      call(api.POST('/api/token/{id}/rotate', { params: { path: { id } }, body: grace })),
    gcTime: 0,
    // Also after a failure: the answer can be lost after the key was replaced.
    onSettled: () => {
      client.invalidateQueries({ queryKey: tokensKey });
    },
  });
}

export function useEndOldKey(tokenId: number) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (keyId: number) =>
      call(
        api.DELETE('/api/token/{id}/old_keys/{key_id}', { params: { path: { id: tokenId, key_id: keyId } } }),
      ),
    onSettled: () => {
      client.invalidateQueries({ queryKey: oldKeysKey(tokenId) });
    },
  });
}
