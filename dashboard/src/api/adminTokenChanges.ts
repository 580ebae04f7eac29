import { type QueryClient, useMutation, useQueryClient } from '@tanstack/react-query';
import { auditKey } from './adminAudit';
import { type OwnedToken, tokensKey } from './adminTokens';
import { api, call } from './client';
import type { Grace } from './oldKeys';
import { reloadOutlooks } from './outlook';
import type { components } from './schema';
import { type NewToken, type Update, type Updated, versioned } from './tokenChanges';
import { readVersion, type Token } from './tokens';

// Administrators do to tokens of others what owners do to theirs. Only owners can read a key.

type RotatedToken = components['schemas']['RotatedTokenBody'];

/** After a change of tokens of any users. */
export function reloadAnyTokens(client: QueryClient) {
  client.invalidateQueries({ queryKey: tokensKey });
  client.invalidateQueries({ queryKey: auditKey });
  reloadOutlooks(client);
}

export function useCreateTokenOf(ownerId: number) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: NewToken): Promise<Token> =>
      call(api.POST('/api/admin/users/{id}/tokens', { params: { path: { id: ownerId } }, body })),
    onSuccess: () => reloadAnyTokens(client),
  });
}

function update({ known: { data, etag }, changes }: Update): Promise<Updated> {
  const { id } = data;
  const params = { path: { id }, header: { 'If-Match': etag } };
  const saving = call(api.PATCH('/api/admin/tokens/{id}', { params, body: { ...changes, id } }));
  return versioned(saving, () => readVersion(id, false));
}

export function useUpdateAnyToken() {
  const client = useQueryClient();
  return useMutation({ mutationFn: update, onSuccess: () => reloadAnyTokens(client) });
}

export function useRotateAnyToken() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ of: { id }, grace }: { of: OwnedToken; grace: Grace }): Promise<RotatedToken> =>
      call(api.POST('/api/admin/tokens/{id}/rotate', { params: { path: { id } }, body: grace })),
    // Also after a failure: the answer can be lost after the key was replaced.
    onSettled: () => reloadAnyTokens(client),
  });
}

export function useDeleteAnyToken() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ id }: OwnedToken) =>
      call(api.DELETE('/api/admin/tokens/{id}', { params: { path: { id } } })),
    onSuccess: () => {
      // The page of the token closes. Loading it again would fail.
      client.invalidateQueries({ queryKey: tokensKey, refetchType: 'none' });
      client.invalidateQueries({ queryKey: auditKey, refetchType: 'none' });
    },
  });
}
