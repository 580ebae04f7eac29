import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { texts } from '../texts';
import { api, call } from './client';
import { ApiError } from './error';
import type { components } from './schema';
import { cachedToken, tokensKey } from './tokenCache';

export type Token = components['schemas']['TokenBody'];
export type TokenPage = components['schemas']['Envelope_PageBody_TokenBody']['data'];

/** The maximum page size of the API. */
export const TOKENS_PER_REQUEST = 100;

/** Searches for a part of the name, or for the key or a part of it. */
export interface TokenSearch {
  by: 'name' | 'key';
  text: string;
}

function fetchTokens(page: number, signal: AbortSignal): Promise<TokenPage> {
  const query = { p: String(page), size: String(TOKENS_PER_REQUEST) };
  return call(api.GET('/api/token/', { params: { query }, signal }));
}

/** The tokens of the signed-in user, newest first. `page` starts at 0; a page has `TOKENS_PER_REQUEST` tokens. */
export function useTokens(page: number) {
  return useQuery({
    queryKey: [...tokensKey, 'list', page],
    queryFn: ({ signal }) => fetchTokens(page, signal),
    placeholderData: keepPreviousData,
  });
}

const SEARCH_RETRIES = 2;

/** Sends nothing without a search. Results are cached, because the API allows 10 searches per minute. */
export function useTokenSearch(search: TokenSearch | undefined, page: number) {
  return useQuery({
    queryKey: [...tokensKey, 'search', search, page],
    queryFn: ({ signal }) => {
      const what = search?.by === 'key' ? { token: search.text } : { keyword: search?.text };
      const query = { ...what, p: String(page), size: String(TOKENS_PER_REQUEST) };
      return call(api.GET('/api/token/search', { params: { query }, signal }));
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
 * One token without its key. `GET /api/token/{id}` reveals the key and records that in the audit log, so this searches
 * the list instead. The list is ordered by descending ID.
 */
async function findToken(id: number, signal: AbortSignal): Promise<Token> {
  for (let page = 0; ; page += 1) {
    const { items, total } = await fetchTokens(page, signal);
    const token = items.find((each) => each.id === id);
    if (token) return token;
    const oldest = items.at(-1);
    if (!oldest || oldest.id < id || (page + 1) * TOKENS_PER_REQUEST >= total) {
      throw new ApiError(404, 'not_found', texts.key.notFound);
    }
  }
}

export function useToken(id: number) {
  const client = useQueryClient();
  return useQuery({
    queryKey: [...tokensKey, 'one', id],
    queryFn: ({ signal }) => findToken(id, signal),
    placeholderData: cachedToken(client, id),
  });
}
