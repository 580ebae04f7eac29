import type { QueryClient, QueryKey } from '@tanstack/react-query';
import type { Token, TokenPage } from './tokens';

/** The key of all queries about the tokens of the signed-in user. */
export const tokensKey = ['tokens'] as const;

/** The key of the queries about deleted tokens. */
export const deletedTokensKey = [...tokensKey, 'deleted'] as const;

const pageKeys = [
  [...tokensKey, 'list'],
  [...tokensKey, 'search'],
];

type ChangePage = (page: TokenPage) => TokenPage;

function updatePages(client: QueryClient, change: ChangePage, queryKeys: readonly QueryKey[] = pageKeys) {
  for (const queryKey of queryKeys) {
    client.setQueriesData<TokenPage>({ queryKey }, (page) => page && change(page));
  }
}

function without(ids: number[]): ChangePage {
  return (page) => {
    const items = page.items.filter(({ id }) => !ids.includes(id));
    return { ...page, items, total: page.total - (page.items.length - items.length) };
  };
}

export function cachedToken(client: QueryClient, id: number): Token | undefined {
  return pageKeys
    .flatMap((queryKey) => client.getQueriesData<TokenPage>({ queryKey }))
    .flatMap(([, page]) => page?.items ?? [])
    .find((token) => token.id === id);
}

/** Updates these tokens in all cached queries. */
export function replaceTokens(client: QueryClient, tokens: Token[]) {
  const byId = new Map(tokens.map((token) => [token.id, token]));
  updatePages(client, (page) => ({
    ...page,
    items: page.items.map((token) => byId.get(token.id) ?? token),
  }));
  for (const token of tokens) client.setQueryData([...tokensKey, 'one', token.id], token);
}

/** Removes these tokens from all cached queries. */
export function removeTokens(client: QueryClient, ids: number[]) {
  for (const id of ids) {
    client.removeQueries({ queryKey: [...tokensKey, 'one', id] });
    client.removeQueries({ queryKey: [...tokensKey, 'usage', id] });
  }
  updatePages(client, without(ids));
  for (const queryKey of [...pageKeys, deletedTokensKey]) client.invalidateQueries({ queryKey });
}

/** Removes these tokens from the deleted ones. */
export function removeDeletedTokens(client: QueryClient, ids: number[]) {
  updatePages(client, without(ids), [deletedTokensKey]);
}
