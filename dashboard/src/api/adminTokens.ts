import {
  keepPreviousData,
  type QueryClient,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { api, call } from './client';
import { ApiError } from './error';
import { PAGE_SIZE, type Page, pageParams } from './page';
import type { components } from './schema';
import { listingBody, listingQuery, type TokenListing } from './tokenListing';

const tokensKey = ['admin', 'tokens'] as const;
const ENABLED = 1;
const DISABLED = 2;

export type OwnedToken = components['schemas']['OwnedTokenBody'];

export interface AnyTokenSearch {
  /** A part of the name. */
  keyword: string;
  /** The whole key, its masked form, or its first or last characters. */
  key: string;
  /** The owner, or empty. */
  userId: string;
  listing: TokenListing;
}

const SEARCH_RETRIES = 2;

/** The tokens of all users, or of one user. A key is sent in the body, because addresses are written to logs. */
export function useAllTokens({ keyword, key, userId, listing }: AnyTokenSearch, page: number) {
  return useQuery({
    queryKey: [...tokensKey, keyword, key, userId, listing, page],
    queryFn: ({ signal }) => {
      if (key === '') {
        const query = { keyword, user_id: userId, ...listingQuery(listing), ...pageParams(page) };
        return call(api.GET('/api/admin/tokens', { params: { query }, signal }));
      }
      const body = { token: key, ...listingBody(listing), p: page, size: PAGE_SIZE };
      const query = { user_id: userId };
      return call(api.POST('/api/admin/tokens/search', { params: { query }, body, signal }));
    },
    placeholderData: keepPreviousData,
    retry: (failures, error) =>
      failures < SEARCH_RETRIES && error instanceof ApiError && (error.isTransient || error.status === 429),
  });
}

/** Optimistic: shows the new status immediately, and the old one again if the server refuses. */
export function useSwitchAnyToken() {
  const client = useQueryClient();
  return useMutation({
    mutationKey: tokensKey,
    mutationFn: ({ token, on }: { token: OwnedToken; on: boolean }) =>
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

function updateToken(client: QueryClient, token: OwnedToken) {
  client.setQueriesData<Page<OwnedToken>>(
    { queryKey: tokensKey },
    (page) => page && { ...page, items: page.items.map((other) => (other.id === token.id ? token : other)) },
  );
}
