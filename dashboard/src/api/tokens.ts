import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { texts } from '../texts';
import { api, call } from './client';
import { ApiError } from './error';
import type { components } from './schema';
import { cachedToken, tokensKey } from './tokenCache';

export type Token = components['schemas']['TokenBody'];
export type TokenPage = components['schemas']['Envelope_PageBody_TokenBody']['data'];

/** The most tokens that one answer holds. */
export const TOKENS_PER_REQUEST = 100;

/** `name`: a part of the name. `key`: a part of the key, or the whole. */
export interface TokenSearch {
  by: 'name' | 'key';
  text: string;
}

function fetchTokens(page: number, signal: AbortSignal): Promise<TokenPage> {
  const query = { p: String(page), size: String(TOKENS_PER_REQUEST) };
  return call(api.GET('/api/token/', { params: { query }, signal }));
}

/** The own tokens, newest first; `page` counts from 0 in steps of `TOKENS_PER_REQUEST`. */
export function useTokens(page: number) {
  return useQuery({
    queryKey: [...tokensKey, 'list', page],
    queryFn: ({ signal }) => fetchTokens(page, signal),
    placeholderData: keepPreviousData,
  });
}

const SEARCH_RETRIES = 2;

/** Nothing is asked without a search. Searches are few (10 a minute), so an answer is kept for a while. */
export function useTokenSearch(search: TokenSearch | undefined, page: number) {
  return useQuery({
    queryKey: [...tokensKey, 'search', search, page],
    queryFn: ({ signal }) => {
      const what = search?.by === 'key' ? { token: search.text } : { keyword: search?.text };
      const query = { ...what, p: String(page), size: String(TOKENS_PER_REQUEST) };
      return call(api.GET('/api/token/search', { params: { query }, signal }));
    },
    enabled: search !== undefined,
    // While somebody types on, what was found stays; another page is another matter.
    placeholderData: page === 0 ? keepPreviousData : undefined,
    staleTime: 60_000,
    refetchOnWindowFocus: false,
    retry: (failures, error) =>
      failures < SEARCH_RETRIES && error instanceof ApiError && (error.isTransient || error.status === 429),
  });
}

/**
 * One token without its key. `GET /api/token/{id}` would reveal the key, and looking at a page is not to be
 * written to the audit log as that; so the token is looked for in the list, where ids descend.
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
