import {
  keepPreviousData,
  type QueryClient,
  queryOptions,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { api, call, callVersioned, type Versioned } from './client';
import { ApiError } from './error';
import { pageBody, pageParams } from './page';
import type { components } from './schema';
import { limits } from './serverLimits';
import { cachedToken, tokensKey } from './tokenCache';
import { listingQuery, type TokenListing } from './tokenListing';

export type Token = components['schemas']['TokenBody'] & Switchable;

export interface Switchable {
  /** The server has not answered yet: `status` is what was asked for, all else is as before. */
  switching?: boolean;
}

/** Whether a key works now, and if not, why. A newer server may have more states. */
export type KeyState = components['schemas']['KeyState'];
export type TokenPage = components['schemas']['Envelope_TokensBody_TokenBody']['data'];

/** The maximum page size of the API. */
export const TOKENS_PER_REQUEST = limits.page_size;

/** Searches for a part of the name, or for the key or a part of it. */
export interface TokenSearch {
  by: 'name' | 'key';
  text: string;
}

/** The tokens of the signed-in user. `page` starts at 0; a page has `TOKENS_PER_REQUEST` tokens. */
export function useTokens(listing: TokenListing, page: number) {
  return useQuery({
    queryKey: [...tokensKey, 'list', listing, page],
    queryFn: ({ signal }) => {
      const query = { ...listingQuery(listing), ...pageParams(page, TOKENS_PER_REQUEST) };
      return call(api.GET('/api/token/', { params: { query }, signal }));
    },
    placeholderData: keepPreviousData,
  });
}

const SEARCH_RETRIES = 2;

const searchKey = (listing: TokenListing) => [...tokensKey, 'search', listing] as const;
const searchKeyOf = (listing: TokenListing, search: TokenSearch | undefined, page: number) =>
  [...searchKey(listing), search, page] as const;

/**
 * Sends nothing without a search. Results are cached, because the API allows 10 searches per minute. Keys are sent in the
 * body, because addresses are written to logs.
 */
export function useTokenSearch(search: TokenSearch | undefined, listing: TokenListing, page: number) {
  return useQuery({
    queryKey: searchKeyOf(listing, search, page),
    queryFn: ({ signal }) => {
      const what = search?.by === 'key' ? { token: search.text } : { keyword: search?.text };
      const body = { ...what, ...listingQuery(listing), ...pageBody(page, TOKENS_PER_REQUEST) };
      return call(api.POST('/api/token/search', { body, signal }));
    },
    enabled: search !== undefined,
    // Keeps the last results while the user types, but not when the page changes.
    placeholderData: page === 0 ? keepPreviousData : undefined,
    staleTime: 60_000,
    refetchOnWindowFocus: false,
    retry: (failures, error) =>
      failures < SEARCH_RETRIES && error instanceof ApiError && (error.isTransient || error.status === 429),
  });
}

/**
 * A cached search whose result contains that of `search`, so that typing on needs no request: it found all tokens with a
 * part of the text in their name.
 */
export function broaderSearch(
  client: QueryClient,
  listing: TokenListing,
  search: TokenSearch,
): TokenSearch | undefined {
  if (search.by !== 'name' || search.text.includes('%')) return undefined;
  const text = search.text.toLowerCase();
  const cached = client.getQueriesData<TokenPage>({ queryKey: searchKey(listing) });
  for (const [queryKey, found] of cached) {
    const [, , , other] = queryKey as ReturnType<typeof searchKeyOf>;
    const isAll = found !== undefined && found.total <= found.items.length;
    if (
      isAll &&
      other?.by === 'name' &&
      !other.text.includes('%') &&
      text.includes(other.text.toLowerCase())
    ) {
      return other;
    }
  }
  return undefined;
}

const oneToken = (id: number) =>
  queryOptions({
    queryKey: [...tokensKey, 'one', id],
    queryFn: ({ signal }) => call(api.GET('/api/token/{id}/details', { params: { path: { id } }, signal })),
  });

/** Reads a token as it is now, without its key. */
export function useReadToken() {
  const client = useQueryClient();
  return (id: number) => client.fetchQuery({ ...oneToken(id), staleTime: 0 });
}

export type VersionedToken = Versioned<Token>;

/** Reads a token with its version, to send changes of exactly this version. Only administrators read those of others. */
export function readVersion(id: number, isOwn: boolean, signal?: AbortSignal): Promise<VersionedToken> {
  const request = { params: { path: { id } }, signal };
  if (!isOwn) return callVersioned(api.GET('/api/admin/tokens/{id}', request));
  return callVersioned(api.GET('/api/token/{id}/details', request));
}

/** One token with its version, read once for a form. Sends nothing without an ID. */
export function useTokenVersion(id: number | undefined, isOwn: boolean) {
  return useQuery({
    // Not one of the queries about tokens, which a change loads again.
    queryKey: ['token_version', id],
    queryFn: ({ signal }) => readVersion(id ?? 0, isOwn, signal),
    enabled: id !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    // The next form reads it again.
    gcTime: 0,
  });
}

/** One token without its key. Unlike reading the key, this is not recorded in the audit log. Sends nothing without an ID. */
export function useToken(id: number | undefined) {
  const client = useQueryClient();
  return useQuery({
    ...oneToken(id ?? 0),
    enabled: id !== undefined,
    placeholderData: id === undefined ? undefined : cachedToken(client, id),
  });
}
