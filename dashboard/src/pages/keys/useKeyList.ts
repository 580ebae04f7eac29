import { useDebouncedValue } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { broaderSearch, TOKENS_PER_REQUEST, type Token, useTokenSearch, useTokens } from '../../api/tokens';
import { filterByText, planSearch, type SearchPlan } from './search';
import type { KeysView } from './useKeysView';

export const KEYS_PER_PAGE = 25;
const PAGES_PER_REQUEST = TOKENS_PER_REQUEST / KEYS_PER_PAGE;
const DEBOUNCE_MS = 400;

export interface KeyList {
  /** Absent while loading. */
  rows: Token[] | undefined;
  /** The number of keys on all pages. */
  total: number;
  plan: SearchPlan;
  /** Why the last search failed. Also set during retries. */
  searchFailure: Error | null;
  /** Set if there is nothing to show. */
  error: Error | null;
  retry: () => void;
}

export function useKeyList({ q, status, sorting, page }: KeysView): KeyList {
  const client = useQueryClient();
  const listing = { status, sorting };
  const requestPage = Math.floor(page / PAGES_PER_REQUEST);
  const [debouncedQ] = useDebouncedValue(q, DEBOUNCE_MS);
  const list = useTokens(listing, requestPage);
  const isSmall = (list.data?.total ?? 0) <= TOKENS_PER_REQUEST;
  const plan: SearchPlan = list.data ? planSearch(q, isSmall) : { kind: 'none' };

  const debouncedPlan = list.data && planSearch(debouncedQ, isSmall);
  const wanted = debouncedPlan?.kind === 'server' ? debouncedPlan.search : undefined;
  const broader = wanted && broaderSearch(client, listing, wanted);
  const sent = broader ?? wanted;
  const search = useTokenSearch(sent, listing, broader ? 0 : requestPage);

  const searching = plan.kind === 'server';
  // The previous rows stay until the response arrives.
  const source = searching && sent && search.data ? search : list;
  // Rows of the previous search may stay, but not its empty result, and not rows of another page.
  const isOutdated = source.isPlaceholderData && (source === list || source.data?.total === 0);
  const loaded = isOutdated ? undefined : source.data?.items;
  const text = plan.kind === 'local' ? plan.text : source === search && broader ? wanted?.text : undefined;
  const shown = loaded && filter(loaded, text, status);
  // All matching tokens are loaded, so their number is known also after a change of their status.
  const complete = source === search ? broader !== undefined : isSmall;
  const total = complete || !source.data ? (shown?.length ?? 0) : source.data.total;
  const first = (page % PAGES_PER_REQUEST) * KEYS_PER_PAGE;

  return {
    rows: shown?.slice(first, first + KEYS_PER_PAGE),
    total,
    plan,
    searchFailure: searching && sent ? search.failureReason : null,
    error: source.data ? null : list.error,
    retry: list.refetch,
  };
}

function filter(tokens: Token[], text: string | undefined, status: number | undefined): Token[] {
  const named = text === undefined ? tokens : filterByText(tokens, text);
  // A token that was switched does not match the filter any more.
  return status === undefined ? named : named.filter((token) => token.status === status);
}
