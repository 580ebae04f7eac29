import type { components } from './schema';
import type { Token } from './tokens';

/** The filters of a list of tokens. */
export type TokenFilter = components['schemas']['FilterBody'];

/** Which tokens an action is for: these, or all that a filter matches, `total` of them when the list was loaded. */
export type ChosenTokens = { tokens: Token[] } | { filter: TokenFilter; userId?: number; total: number };

export function countOf(chosen: ChosenTokens): number {
  return 'tokens' in chosen ? chosen.tokens.length : chosen.total;
}

/** The members of a body that say which tokens. */
export function bodyOf(chosen: ChosenTokens) {
  if ('tokens' in chosen) return { ids: chosen.tokens.map(({ id }) => id) };
  return { filter: chosen.filter, user_id: chosen.userId };
}
