import { useDebouncedValue } from '@mantine/hooks';
import { TOKENS_PER_REQUEST, type Token, useTokenSearch, useTokens } from '../../api/tokens';
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
  /** All tokens are loaded, so they are filtered locally. */
  complete: boolean;
  plan: SearchPlan;
  /** Why the last search failed. Also set during retries. */
  searchFailure: Error | null;
  /** Set if there is nothing to show. */
  error: Error | null;
  retry: () => void;
}

export function useKeyList({ q, status, page }: KeysView): KeyList {
  const requestPage = Math.floor(page / PAGES_PER_REQUEST);
  const [debouncedQ] = useDebouncedValue(q, DEBOUNCE_MS);
  const list = useTokens(requestPage);
  const complete = (list.data?.total ?? 0) <= TOKENS_PER_REQUEST;
  const plan: SearchPlan = list.data ? planSearch(q, complete) : { kind: 'none' };

  const debouncedPlan = list.data && planSearch(debouncedQ, complete);
  const sentSearch = debouncedPlan?.kind === 'server' ? debouncedPlan.search : undefined;
  const search = useTokenSearch(sentSearch, requestPage);

  const searching = plan.kind === 'server';
  // The previous rows stay until the response arrives.
  const source = searching && sentSearch && search.data ? search : list;
  // Rows of the previous search may stay, but not its empty result, and not rows of another page.
  const isOutdated = source.isPlaceholderData && (source === list || source.data?.total === 0);
  const loaded = isOutdated ? undefined : source.data?.items;
  const local = loaded && filter(loaded, plan, complete ? status : undefined);
  const total = complete || !source.data ? (local?.length ?? 0) : source.data.total;
  const first = (page % PAGES_PER_REQUEST) * KEYS_PER_PAGE;

  return {
    rows: local?.slice(first, first + KEYS_PER_PAGE),
    total,
    complete,
    plan,
    searchFailure: searching && sentSearch ? search.failureReason : null,
    error: source.data ? null : list.error,
    retry: list.refetch,
  };
}

function filter(tokens: Token[], plan: SearchPlan, status: number | undefined): Token[] {
  const named = plan.kind === 'local' ? filterByText(tokens, plan.text) : tokens;
  return status === undefined ? named : named.filter((token) => token.status === status);
}
