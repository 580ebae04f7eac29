import {
  keepPreviousData,
  type QueryClient,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { api, call } from './client';
import { type Page, pageParams } from './page';
import type { Token } from './tokens';

const tokensKey = ['admin', 'tokens'] as const;
const ENABLED = 1;
const DISABLED = 2;

/** The tokens of all users, or of one user. */
export function useAllTokens(keyword: string, userId: string, page: number) {
  return useQuery({
    queryKey: [...tokensKey, keyword, userId, page],
    queryFn: ({ signal }) =>
      call(
        api.GET('/api/admin/tokens', {
          params: { query: { keyword, user_id: userId, ...pageParams(page) } },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
  });
}

/** Optimistic: shows the new status immediately, and the old one again if the server refuses. */
export function useSwitchAnyToken() {
  const client = useQueryClient();
  return useMutation({
    mutationKey: tokensKey,
    mutationFn: ({ token, on }: { token: Token; on: boolean }) =>
      call(
        api.POST('/api/admin/tokens/{id}/status', {
          params: { path: { id: token.id } },
          body: { status: on ? ENABLED : DISABLED },
        }),
      ),
    onMutate: async ({ token, on }) => {
      await client.cancelQueries({ queryKey: tokensKey });
      updateToken(client, { ...token, status: on ? ENABLED : DISABLED });
    },
    onSuccess: (token) => updateToken(client, token),
    onError: (_, { token }) => updateToken(client, token),
    onSettled: () => {
      // While another switch is pending, a reload would show its old status.
      if (client.isMutating({ mutationKey: tokensKey }) > 1) return;
      client.invalidateQueries({ queryKey: tokensKey });
    },
  });
}

function updateToken(client: QueryClient, token: Token) {
  client.setQueriesData<Page<Token>>(
    { queryKey: tokensKey },
    (page) => page && { ...page, items: page.items.map((other) => (other.id === token.id ? token : other)) },
  );
}
