import { limits } from '../../api/serverLimits';
import type { Token, TokenSearch } from '../../api/tokens';

// Searches that the server would refuse are not sent (specification, section 8).

/** How to search for a typed text: in the loaded tokens, on the server, or not yet. */
export type SearchPlan =
  | { kind: 'none' }
  | { kind: 'local'; text: string; orElse?: TokenSearch }
  | { kind: 'server'; search: TokenSearch; orElse?: TokenSearch }
  | { kind: 'too_short' }
  | { kind: 'too_many_wildcards' };

/** If `complete`, all tokens are loaded and names are searched locally. `orElse` is for a text that no name has. */
export function planSearch(typed: string, complete: boolean): SearchPlan {
  const text = unmasked(typed.trim());
  if (text === '') return { kind: 'none' };
  const by = looksLikeKey(text) ? 'key' : 'name';
  const wildcards = text.split('%').length - 1;
  // Only a whole key: the visible ends of keys are searched locally.
  if (complete && by === 'name' && wildcards === 0)
    return { kind: 'local', text, ...orKey(text, limits.imported_key_min_characters) };
  if (wildcards > limits.search_wildcards || text.includes('%%')) return { kind: 'too_many_wildcards' };
  if ([...text].length - wildcards < limits.search_characters) return { kind: 'too_short' };
  const orElse = by === 'name' ? orKey(text, limits.key_hint_characters) : undefined;
  return { kind: 'server', search: { by, text }, ...orElse };
}

/** A search for a key or its ends, unless the text has other characters or is shorter than `least`. */
function orKey(text: string, least: number): { orElse: TokenSearch } | undefined {
  const isPossible = !/\s/.test(text) && text.replaceAll('%', '').length >= least;
  return isPossible ? { orElse: { by: 'key', text } } : undefined;
}

function looksLikeKey(text: string): boolean {
  return text.startsWith('sk-') || (text.length === limits.key_characters && /^[0-9A-Za-z]+$/.test(text));
}

/** A masked key as a pattern: `sk-ab12%wxyz` for `sk-ab12**********wxyz`. */
function unmasked(text: string): string {
  return text.startsWith('sk-') ? text.replace(/\*{2,}/, '%') : text;
}

/** Tokens with the text in their name, ignoring case, or in the visible part of the masked key. */
export function filterByText(tokens: Token[], text: string): Token[] {
  const part = text.toLowerCase();
  return tokens.filter(
    ({ name, masked_key }) => name.toLowerCase().includes(part) || showsText(masked_key, text),
  );
}

/** Those with exactly this name first, ignoring case. */
export function exactFirst<Found>(found: Found[], text: string, nameOf: (one: Found) => string): Found[] {
  const name = text.trim().toLowerCase();
  const isOther = (one: Found) => Number(nameOf(one).toLowerCase() !== name);
  return found.toSorted((one, other) => isOther(one) - isOther(other));
}

/** Texts shorter than the visible ends of a masked key would match too many keys. */
function showsText(maskedKey: string, text: string): boolean {
  return (
    text.length >= limits.key_hint_characters &&
    (maskedKey.endsWith(text) || maskedKey.startsWith(`sk-${text}`))
  );
}
