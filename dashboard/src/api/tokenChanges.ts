import { useMutation, useQueryClient } from '@tanstack/react-query';
import { changeTokens } from './changeTokens';
import { api, call } from './client';
import { hasCode } from './error';
import { reloadOutlooks } from './outlook';
import type { components } from './schema';
import { removeTokens, replaceTokens, tokensKey } from './tokenCache';
import { readVersion, type Token, type VersionedToken } from './tokens';

export type NewToken = components['schemas']['CreateBody'];
/** The fields of a token that its owner sets. `models` and `subnet` are other names of two of them. */
export type TokenFieldName = Exclude<
  keyof NewToken | keyof components['schemas']['UpdateBody'],
  'id' | 'status' | 'add_quota' | 'models' | 'subnet'
>;
export type TokenChanges = Omit<components['schemas']['UpdateBody'], 'id'> & { add_quota?: number };

/** The response contains the key. Call `reset` after showing it, so that it does not stay in memory. */
export function useCreateToken() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (body: NewToken): Promise<Token> => {
      const headers = { Prefer: 'return=representation' };
      // The OpenAPI document describes the response without this header, which has no token.
      const token: unknown = await call(api.POST('/api/token/', { body, headers }));
      return token as Token;
    },
    gcTime: 0,
    onSuccess: () => {
      client.invalidateQueries({ queryKey: tokensKey });
    },
  });
}

export interface Update {
  /** The token that the changes are about. */
  known: VersionedToken;
  changes: TokenChanges;
}

/** The saved token, or the token as somebody else changed it meanwhile. Then nothing was saved. */
export type Updated = { saved: Token } | { theirs: VersionedToken };

export async function versioned(
  saving: Promise<Token>,
  read: () => Promise<VersionedToken>,
): Promise<Updated> {
  try {
    return { saved: await saving };
  } catch (error) {
    if (!hasCode(error as Error, 'token_changed')) throw error;
    return { theirs: await read() };
  }
}

function update({ known: { data, etag }, changes }: Update): Promise<Updated> {
  const { id } = data;
  const params = { header: { 'If-Match': etag } };
  const saving = call(api.PUT('/api/token/', { params, body: { ...changes, id } }));
  return versioned(saving, () => readVersion(id, true));
}

export function useUpdateToken() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: update,
    onSuccess: (updated) => {
      replaceTokens(client, ['saved' in updated ? updated.saved : updated.theirs.data]);
      client.invalidateQueries({ queryKey: tokensKey });
      reloadOutlooks(client);
    },
  });
}

/** Adds quota to each of these tokens, or to none. */
export function useAddQuota() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ tokens, units }: { tokens: Token[]; units: number }) =>
      changeTokens(tokens, { add_quota: units }),
    onSuccess: (changed) => replaceTokens(client, changed),
    // Also after a failure: the answer can be lost after the change.
    onSettled: () => {
      client.invalidateQueries({ queryKey: tokensKey });
    },
  });
}

/** Resolves to the number of tokens that were deleted. */
export function useDeleteTokens() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (tokens: Token[]) =>
      call(api.POST('/api/token/batch', { body: { ids: tokens.map(({ id }) => id) } })),
    onSuccess: (_, tokens) =>
      removeTokens(
        client,
        tokens.map(({ id }) => id),
      ),
  });
}

/** Reads the key, which the audit log records. Call `reset` after showing it. */
export function useRevealKey() {
  return useMutation({
    mutationFn: async (token: Token) => {
      const { key } = await call(api.POST('/api/token/{id}/key', { params: { path: { id: token.id } } }));
      return key;
    },
    gcTime: 0,
  });
}
