import { limits } from '../../../api/serverLimits';

/** Returns true if the server accepts the text as a search (specification, section 8), or if it is empty. */
export function isKeyword(text: string): boolean {
  const bare = text.replaceAll('%', '').trim();
  return text.trim() === '' || bare.length >= limits.search_characters;
}
