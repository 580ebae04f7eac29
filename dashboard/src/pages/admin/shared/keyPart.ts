import { limits } from '../../../api/serverLimits';

/**
 * Returns true if the text can be a key and the server accepts it: the whole key, its masked form, or its first or last
 * characters. Also true if it is empty. `*`, `%` and `…` stand for the characters between them.
 */
export function isKeyPart(text: string): boolean {
  const bare = text.trim().replace(/^sk-/, '');
  if (text.trim() === '') return true;
  const parts = bare.split(/[*%…]+/).filter((part) => part !== '');
  return (
    !/\s/.test(bare) &&
    parts.length > 0 &&
    parts.length <= 2 &&
    parts.every((part) => [...part].length >= limits.key_hint_characters)
  );
}
