const MIN_CHARACTERS = 2;

/** Whether the server would search for this (spec §8); nothing at all means no search. */
export function isKeyword(text: string): boolean {
  const bare = text.replaceAll('%', '').trim();
  return text.trim() === '' || bare.length >= MIN_CHARACTERS;
}
