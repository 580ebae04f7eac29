import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api, call } from './client';
import { pageParams } from './page';
import { sendEach } from './sendEach';
import { deletedTokensKey, removeDeletedTokens, tokensKey } from './tokenCache';
import type { Token } from './tokens';

/** The deleted tokens of the signed-in user that can be restored, the last one first. `page` starts at 0. */
export function useDeletedTokens(page: number) {
  return useQuery({
    queryKey: [...deletedTokensKey, page],
    queryFn: ({ signal }) => {
      const query = { deleted: '1', ...pageParams(page) };
      return call(api.GET('/api/token/', { params: { query }, signal }));
    },
    placeholderData: keepPreviousData,
  });
}

function restore({ id }: Token): Promise<Token> {
  return call(api.POST('/api/token/{id}/restore', { params: { path: { id } } }));
}

/** Restores deleted tokens with their keys, as far as the server does. Fails if it refuses all. */
export function useRestoreTokens() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (tokens: Token[]) => sendEach(tokens, restore),
    onSuccess: ({ done }) =>
      removeDeletedTokens(
        client,
        done.map(({ id }) => id),
      ),
    // Also after a failure: the answer can be lost after the token was restored.
    onSettled: () => {
      client.invalidateQueries({ queryKey: tokensKey });
    },
  });
}
