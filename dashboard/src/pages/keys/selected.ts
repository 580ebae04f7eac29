import type { Token } from '../../api/tokens';

/** The selected tokens by ID, also those of other pages. */
export type Selected = ReadonlyMap<number, Token>;

export function withTokens(selected: Selected, tokens: Token[], on: boolean): Selected {
  const after = new Map(selected);
  for (const token of tokens) {
    if (on) after.set(token.id, token);
    else after.delete(token.id);
  }
  return after;
}

/** The shown tokens from the anchor to `token`, both included. Only `token` if the anchor is not shown. */
export function rangeOf(shown: Token[], anchor: number | undefined, token: Token): Token[] {
  const from = shown.findIndex(({ id }) => id === anchor);
  const to = shown.findIndex(({ id }) => id === token.id);
  if (from < 0 || to < 0) return [token];
  return shown.slice(Math.min(from, to), Math.max(from, to) + 1);
}
