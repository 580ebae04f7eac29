import {
  keepPreviousData,
  type QueryClient,
  queryOptions,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { auditKey } from './adminAudit';
import { api, call } from './client';
import { ApiError } from './error';
import { reloadOutlooks } from './outlook';
import { PAGE_SIZE, type Page, pageBody, pageParams } from './page';
import type { components } from './schema';
import { listingQuery, type TokenListing } from './tokenListing';
import { answered, asked, DISABLED, ENABLED } from './tokenSwitch';
import type { Switchable } from './tokens';

export const tokensKey = ['admin', 'tokens'] as const;
const listKey = [...tokensKey, 'list'] as const;
const oneKey = (id: number) => [...tokensKey, 'one', id] as const;

export type OwnedToken = components['schemas']['OwnedTokenBody'] & Switchable;

export interface AnyTokenSearch {
  /** A part of the name. */
  keyword: string;
  /** The whole key, its masked form, or its first or last characters. */
  key: string;
  /** The owner, or empty. */
  userId: string;
  listing: TokenListing;
  /** How many tokens a page has. */
  size?: number;
}

const SEARCH_RETRIES = 2;

/** The tokens of all users, or of one user. A key is sent in the body, because addresses are written to logs. */
export function useAllTokens(search: AnyTokenSearch, page: number, enabled = true) {
  const { keyword, key, userId, listing, size = PAGE_SIZE } = search;
  return useQuery({
    queryKey: [...listKey, keyword, key, userId, listing, page, size],
    queryFn: ({ signal }) => {
      if (key === '') {
        const query = { keyword, user_id: userId, ...listingQuery(listing), ...pageParams(page, size) };
        return call(api.GET('/api/admin/tokens', { params: { query }, signal }));
      }
      const body = { token: key, ...listingQuery(listing), ...pageBody(page, size) };
      const query = { user_id: userId };
      return call(api.POST('/api/admin/tokens/search', { params: { query }, body, signal }));
    },
    enabled,
    placeholderData: keepPreviousData,
    retry: (failures, error) =>
      failures < SEARCH_RETRIES && error instanceof ApiError && (error.isTransient || error.status === 429),
  });
}

const oneToken = (id: number) =>
  queryOptions({
    queryKey: oneKey(id),
    queryFn: ({ signal }) => call(api.GET('/api/admin/tokens/{id}', { params: { path: { id } }, signal })),
  });

/** Reads a token of any user as it is now, without its key. */
export function useReadAnyToken() {
  const client = useQueryClient();
  return (id: number) => client.fetchQuery({ ...oneToken(id), staleTime: 0 });
}

/** One token of any user, without its key. Sends nothing without an ID. */
export function useAnyToken(id: number | undefined) {
  const client = useQueryClient();
  return useQuery({
    ...oneToken(id ?? 0),
    enabled: id !== undefined,
    placeholderData: id === undefined ? undefined : listedToken(client, id),
  });
}

function listedToken(client: QueryClient, id: number): OwnedToken | undefined {
  return client
    .getQueriesData<Page<OwnedToken>>({ queryKey: listKey })
    .flatMap(([, page]) => page?.items ?? [])
    .find((token) => token.id === id);
}

/** Optimistic: shows immediately what was asked for, and the old status again if the server refuses. */
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
      updateToken(client, asked(token, on));
    },
    onSuccess: (token) => updateToken(client, token),
    onError: (_, { token }) => updateToken(client, answered(token)),
    onSettled: () => {
      // While another switch is pending, a reload would show its old status.
      if (client.isMutating({ mutationKey: tokensKey }) > 1) return;
      client.invalidateQueries({ queryKey: tokensKey });
      client.invalidateQueries({ queryKey: auditKey });
      reloadOutlooks(client);
    },
  });
}

function updateToken(client: QueryClient, token: OwnedToken) {
  client.setQueryData<OwnedToken>(oneKey(token.id), (known) => known && token);
  client.setQueriesData<Page<OwnedToken>>(
    { queryKey: listKey },
    (page) => page && { ...page, items: page.items.map((other) => (other.id === token.id ? token : other)) },
  );
}
