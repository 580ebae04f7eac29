import { useSearch } from 'wouter/use-browser-location';

/**
 * The query string for the router, which passes it to `decodeURI`. Percent signs are encoded once more, so that the
 * query string stays as it is in the URL and `URLSearchParams` alone decodes it.
 */
export function useEncodedSearch(): string {
  return useSearch().replaceAll('%', '%25');
}
