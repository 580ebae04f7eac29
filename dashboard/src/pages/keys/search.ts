import type { Token, TokenSearch } from '../../api/tokens';

// The rules of the server (specification, section 8). Searches that it would refuse are not sent.
const MIN_CHARACTERS = 2;
const MAX_WILDCARDS = 2;

const WHOLE_KEY_LENGTH = 48;
// Characters that a masked key shows at each end. Shorter texts would match too many keys.
const SHOWN_OF_KEY = 4;

/** How to search for a typed text: in the loaded tokens, on the server, or not yet. */
export type SearchPlan =
  | { kind: 'none' }
  | { kind: 'local'; text: string }
  | { kind: 'server'; search: TokenSearch }
  | { kind: 'too_short' }
  | { kind: 'too_many_wildcards' };

/** If `complete`, all tokens are loaded and names are searched locally. */
export function planSearch(typed: string, complete: boolean): SearchPlan {
  const text = unmasked(typed.trim());
  if (text === '') return { kind: 'none' };
  const by = looksLikeKey(text) ? 'key' : 'name';
  const wildcards = text.split('%').length - 1;
  if (complete && by === 'name' && wildcards === 0) return { kind: 'local', text };
  if (wildcards > MAX_WILDCARDS || text.includes('%%')) return { kind: 'too_many_wildcards' };
  if ([...text].length - wildcards < MIN_CHARACTERS) return { kind: 'too_short' };
  return { kind: 'server', search: { by, text } };
}

function looksLikeKey(text: string): boolean {
  return text.startsWith('sk-') || (text.length === WHOLE_KEY_LENGTH && /^[0-9A-Za-z]+$/.test(text));
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

function showsText(maskedKey: string, text: string): boolean {
  return text.length >= SHOWN_OF_KEY && (maskedKey.endsWith(text) || maskedKey.startsWith(`sk-${text}`));
}
