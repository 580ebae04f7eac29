const LONGEST_WORD = 15;

/**
 * Returns true if the text may be a key or a long part of one. Such a text must not get into a URL, because URLs are
 * written to histories and logs.
 */
export function mayBeSecret(text: string): boolean {
  return looksSecret(text, LONGEST_WORD, [/\d/, /[A-Za-z]/]);
}

/** IDs of requests with letters of both cases are not longer. */
const LONGEST_ID = 32;

/** Returns true if the text may be a whole key. IDs of requests look like parts of keys, and must get into URLs. */
export function mayBeKey(text: string): boolean {
  return looksSecret(text, LONGEST_ID, [/\d/, /[A-Z]/, /[a-z]/]);
}

/** Whether the text has the beginning of a key, or a longer word than `longest` with all of these characters. */
function looksSecret(text: string, longest: number, characters: RegExp[]): boolean {
  if (/(^|[^0-9a-z])sk-/i.test(text)) return true;
  const words = text.match(/[0-9A-Za-z]+/g) ?? [];
  return words.some((word) => word.length > longest && characters.every((each) => each.test(word)));
}
