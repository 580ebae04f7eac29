import { requestsHref } from '../../shared/usage/requestFilters';

/** The page of the refused requests that came with an ended key of this token. */
export function oldKeyRefusalsHref(tokenId: number): string {
  return requestsHref('own', { token_id: tokenId, outcome: 'refused', reason: 'invalid_key' });
}
