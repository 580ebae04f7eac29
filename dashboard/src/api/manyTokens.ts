import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { texts } from '../texts';
import { reloadAnyTokens } from './adminTokenChanges';
import { beginning, changeMany, type Part, type Progress, waitFor } from './changeMany';
import { bodyOf, type ChosenTokens } from './chosenTokens';
import { api, call } from './client';
import { ApiError } from './error';
import { newIdempotencyKey } from './idempotencyKey';
import type { Grace, Rotated } from './oldKeys';
import { reloadOutlooks } from './outlook';
import type { components } from './schema';
import { tokensKey } from './tokenCache';
import type { Token } from './tokens';

/** Whose tokens: those of the signed-in user, or, for administrators, of any users. */
export type Scope = 'own' | 'any';
type Body = components['schemas']['BulkChangeBody'];
/** The fields that change. */
export type TokenSet = Omit<Body['set'], 'id'>;

interface Change {
  chosen: ChosenTokens;
  set: TokenSet;
}

const headerOf = (key: string) => ({ header: { 'Idempotency-Key': key } });

/** All or none. A refusal has the name of the token that is the reason. */
async function changeOwn({ chosen, set }: Change, key: string): Promise<Part> {
  try {
    const body = { ...bodyOf(chosen), set } as Body;
    const changed = await call(api.PATCH('/api/token/bulk', { params: headerOf(key), body }));
    return { changed: changed.length, faults: [] };
  } catch (error) {
    throw error instanceof ApiError ? named(error, chosen) : error;
  }
}

/** All or none of each owner. */
function changeAny({ chosen, set }: Change, after: number | undefined, key: string): Promise<Part> {
  const body = { ...bodyOf(chosen), set, after } as components['schemas']['BulkChangeAnyBody'];
  return call(api.PATCH('/api/admin/tokens/bulk', { params: headerOf(key), body }));
}

function named(error: ApiError, chosen: ChosenTokens): ApiError {
  if (error.id === undefined) return error;
  const { id } = error;
  return error.aboutOneOf(
    'tokens' in chosen ? chosen.tokens : [{ id, name: texts.keys.many.key(String(id)) }],
  );
}

/** Changes all chosen tokens in the same way, and waits while the server limits how much is written. */
export function useChangeMany(scope: Scope) {
  const client = useQueryClient();
  const [progress, setProgress] = useState<Progress>();
  const [limit, setLimit] = useState<ApiError>();
  const stopping = useRef<AbortController>(undefined);
  // When the same change is sent again after a failure, it goes on where it failed, with the same key.
  const last = useRef<{ change: string; from: Progress }>(undefined);

  const mutation = useMutation({
    mutationFn: async (change: Change) => {
      const stop = new AbortController();
      stopping.current = stop;
      const { signal } = stop;
      const send = (after: number | undefined, key: string) =>
        scope === 'own' ? changeOwn(change, key) : changeAny(change, after, key);
      const wait = async (refusal: ApiError) => {
        setLimit(refusal);
        await waitFor(refusal, signal);
        setLimit(undefined);
      };
      const onProgress = (known: Progress) => {
        if (last.current) last.current.from = known;
        setProgress(known);
      };
      const outcome = await changeMany(send, first(change), { wait, onProgress, signal });
      last.current = undefined;
      return outcome;
    },
    // Also after a failure: the answer can be lost after the change.
    onSettled: () => {
      if (scope === 'any') return reloadAnyTokens(client);
      client.invalidateQueries({ queryKey: tokensKey });
      reloadOutlooks(client);
    },
  });

  function first({ chosen, set }: Change): Progress {
    const change = JSON.stringify([bodyOf(chosen), set]);
    if (last.current?.change !== change) last.current = { change, from: beginning() };
    return last.current.from;
  }

  function reset() {
    setProgress(undefined);
    mutation.reset();
  }

  return {
    ...mutation,
    /** Set from the second part or the first wait on. */
    progress,
    /** The refusal because of which it waits now. */
    limit,
    /** Resolves with what was changed before. */
    stop: () => stopping.current?.abort(),
    reset,
  };
}

/**
 * Gives these tokens other keys, all or none. The response contains the keys. Call `reset` after showing them, so that they
 * do not stay in memory.
 */
export function useRotateTokens() {
  const client = useQueryClient();
  // The same request gets the same answer when it is sent again after a failure.
  const last = useRef<{ body: string; key: string }>(undefined);
  return useMutation({
    mutationFn: async ({ of, grace }: { of: Token[]; grace: Grace }): Promise<Rotated[]> => {
      const body = { ids: of.map(({ id }) => id), ...grace };
      const text = JSON.stringify(body);
      if (last.current?.body !== text) last.current = { body: text, key: newIdempotencyKey() };
      const params = headerOf(last.current.key);
      try {
        const rotated = await call(api.POST('/api/token/bulk/rotate', { params, body }));
        last.current = undefined;
        return rotated;
      } catch (error) {
        throw error instanceof ApiError ? error.aboutOneOf(of) : error;
      }
    },
    gcTime: 0,
    onSettled: () => {
      client.invalidateQueries({ queryKey: tokensKey });
    },
  });
}

/** A file with the chosen tokens as CSV, without their keys. */
export function useExportTokens(scope: Scope) {
  return useMutation({
    mutationFn: (chosen: ChosenTokens): Promise<Blob> => {
      const request = { body: { ...bodyOf(chosen), format: 'csv-bom' }, parseAs: 'blob' } as const;
      const sending =
        scope === 'own'
          ? api.POST('/api/token/export', request)
          : api.POST('/api/admin/tokens/export', request);
      return call(sending.then(inEnvelope));
    },
    gcTime: 0,
  });
}

/** A file as the `data` of an envelope, because failures are envelopes, also with status 200. */
async function inEnvelope(answer: { data?: Blob; error?: unknown; response: Response }) {
  const { data, error, response } = answer;
  if (!data) return { error, response };
  const isFile = response.headers.get('Content-Type')?.startsWith('text/csv');
  if (isFile) return { data: { success: true, data }, response };
  return { error: JSON.parse(await data.text()) as unknown, response };
}
