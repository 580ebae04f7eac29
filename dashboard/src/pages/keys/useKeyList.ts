import { useDebouncedValue } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { broaderSearch, TOKENS_PER_REQUEST, type Token, useTokenSearch, useTokens } from '../../api/tokens';
import { exactFirst, filterByText, planSearch, type SearchPlan } from './search';
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

/** The keys of the view. A text that no name has is searched for as a key or a part of one. */
export function useKeyList(view: KeysView): KeyList {
  const { q, state, sorting, page } = view;
  const [debouncedQ] = useDebouncedValue(q, DEBOUNCE_MS);
  const named = useNamedKeys(view, debouncedQ);
  const { plan } = named;
  const isMissing = named.rows?.length === 0 && named.total === 0 && q === debouncedQ;
  const orElse = isMissing && 'orElse' in plan ? plan.orElse : undefined;
  const search = useTokenSearch(orElse, { state, sorting }, Math.floor(page / PAGES_PER_REQUEST));
  if (!orElse) return named;
  // Rows of another search are not shown.
  const found = search.isPlaceholderData ? undefined : search.data;
  return {
    ...named,
    rows: search.failureReason ? [] : found && pageOf(filter(found.items, undefined, state), page),
    total: found?.total ?? 0,
    searchFailure: search.failureReason,
  };
}

function useNamedKeys({ q, state, sorting, page }: KeysView, debouncedQ: string): KeyList {
  const client = useQueryClient();
  const listing = { state, sorting };
  const requestPage = Math.floor(page / PAGES_PER_REQUEST);
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
  const shown = loaded && filter(loaded, text, state);
  // All matching tokens are loaded, so their number is known also after a change of their state.
  const complete = source === search ? broader !== undefined : isSmall;
  const total = complete || !source.data ? (shown?.length ?? 0) : source.data.total;

  return {
    rows: shown && pageOf(exactFirst(shown, q, nameOf), page),
    total,
    plan,
    searchFailure: searching && sent ? search.failureReason : null,
    error: source.data ? null : list.error,
    retry: list.refetch,
  };
}

const nameOf = ({ name }: Token) => name;

/** Of the tokens that one request loads. */
function pageOf(tokens: Token[], page: number): Token[] {
  const first = (page % PAGES_PER_REQUEST) * KEYS_PER_PAGE;
  return tokens.slice(first, first + KEYS_PER_PAGE);
}

function filter(tokens: Token[], text: string | undefined, state: string | undefined): Token[] {
  const named = text === undefined ? tokens : filterByText(tokens, text);
  // A token that was switched does not match the filter any more.
  return state === undefined ? named : named.filter((token) => token.state === state);
}
