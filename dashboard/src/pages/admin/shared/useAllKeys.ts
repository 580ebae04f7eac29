import { useAllTokens } from '../../../api/adminTokens';
import type { TokenListing } from '../../../api/tokenListing';
import { mayBeSecret } from '../../../shared/mayBeSecret';
import { isKeyPart } from './keyPart';
import { isKeyword } from './keyword';

interface Options {
  /** The ID of the owner, or empty. */
  userId: string;
  listing: TokenListing;
  page: number;
  /** How many keys a page has. */
  size?: number;
  enabled?: boolean;
}

/** Returns true if all keys can be searched for the text: a part of a name, a key, or an end of one. */
export function isSearchable(text: string): boolean {
  return mayBeSecret(text) ? isKeyPart(text) : isKeyword(text);
}

/** The keys of all users with this text in their name, or else with this key or an end of it. */
export function useAllKeys(text: string, { userId, listing, page, size, enabled = true }: Options) {
  const isSecret = mayBeSecret(text);
  const search = { userId, listing, size };
  const byName = useAllTokens({ ...search, keyword: text, key: '' }, page, enabled && !isSecret);
  const isMissing = byName.data?.total === 0 && !byName.isPlaceholderData;
  const isKey = text.trim() !== '' && isKeyPart(text) && (isSecret || isMissing);
  const byKey = useAllTokens({ ...search, keyword: '', key: text }, page, enabled && isKey);
  return { query: isKey ? byKey : byName, isByKey: isKey || isSecret };
}
