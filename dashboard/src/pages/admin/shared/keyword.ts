const MIN_CHARACTERS = 2;

/** Returns true if the server accepts the text as a search (specification, section 8), or if it is empty. */
export function isKeyword(text: string): boolean {
  const bare = text.replaceAll('%', '').trim();
  return text.trim() === '' || bare.length >= MIN_CHARACTERS;
}
