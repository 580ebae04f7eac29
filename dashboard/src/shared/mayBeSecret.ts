const LONGEST_WORD = 15;

/**
 * Returns true if the text may be a key or a long part of one. Such a text must not get into a URL, because URLs are
 * written to histories and logs.
 */
export function mayBeSecret(text: string): boolean {
  if (/(^|[^0-9a-z])sk-/i.test(text)) return true;
  const words = text.match(/[0-9A-Za-z]+/g) ?? [];
  return words.some((word) => word.length > LONGEST_WORD && /\d/.test(word) && /[A-Za-z]/.test(word));
}

/** IDs of requests with letters of both cases are not longer. */
const LONGEST_ID = 32;

/** Returns true if the text may be a whole key. IDs of requests look like parts of keys, and must get into URLs. */
export function mayBeKey(text: string): boolean {
  if (/(^|[^0-9a-z])sk-/i.test(text)) return true;
  const words = text.match(/[0-9A-Za-z]+/g) ?? [];
  return words.some(
    (word) => word.length > LONGEST_ID && /\d/.test(word) && /[A-Z]/.test(word) && /[a-z]/.test(word),
  );
}
