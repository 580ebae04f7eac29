import { useDebouncedValue } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import type { TokenFilter } from '../../api/chosenTokens';
import { broaderSearch, TOKENS_PER_REQUEST, type Token, useTokenSearch, useTokens } from '../../api/tokens';
import { listFilter } from './listFilter';
import { exactFirst, filterByText, planSearch, type SearchPlan } from './search';
import type { KeysView } from './useKeysView';

/** Divisors of `TOKENS_PER_REQUEST`, so that the rows of a page come from one request. */
export const PAGE_SIZES: [number, ...number[]] = [25, 50, 100];
const DEBOUNCE_MS = 400;

export interface KeyList {
  /** Absent while loading. */
  rows: Token[] | undefined;
  /** The number of keys on all pages. */
  total: number;
  /** The rows and their number may still be those of another search or page. */
  isOutdated: boolean;
  /** Of the API, if it matches the same keys. */
  filter: TokenFilter | undefined;
  plan: SearchPlan;
  /** Why the last search failed. Also set during retries. */
  searchFailure: Error | null;
  /** Set if there is nothing to show. */
  error: Error | null;
  retry: () => void;
}

/** The keys of the view. A text that no name has is searched for as a key or a part of one. */
export function useKeyList(view: KeysView, pageSize = PAGE_SIZES[0]): KeyList {
  const { q, state, group, sorting, page } = view;
  const part = partOf(page, pageSize);
  const [debouncedQ] = useDebouncedValue(q, DEBOUNCE_MS);
  const named = useNamedKeys(view, part, debouncedQ);
  const { plan } = named;
  const isMissing = named.rows?.length === 0 && named.total === 0 && q === debouncedQ;
  const orElse = isMissing && 'orElse' in plan ? plan.orElse : undefined;
  const search = useTokenSearch(orElse, { state, group, sorting }, part.request);
  if (!orElse) return named;
  // Rows of another search are not shown.
  const found = search.isPlaceholderData ? undefined : search.data;
  return {
    ...named,
    rows: search.failureReason ? [] : found && part.of(filter(found.items, undefined, state)),
    total: found?.total ?? 0,
    isOutdated: search.isPlaceholderData,
    filter: undefined,
    searchFailure: search.failureReason,
  };
}

function useNamedKeys(view: KeysView, part: Part, debouncedQ: string): KeyList {
  const { q, state, group, sorting } = view;
  const client = useQueryClient();
  const listing = { state, group, sorting };
  const list = useTokens(listing, part.request);
  const isSmall = (list.data?.total ?? 0) <= TOKENS_PER_REQUEST;
  const plan: SearchPlan = list.data ? planSearch(q, isSmall) : { kind: 'none' };

  const debouncedPlan = list.data && planSearch(debouncedQ, isSmall);
  const wanted = debouncedPlan?.kind === 'server' ? debouncedPlan.search : undefined;
  const broader = wanted && broaderSearch(client, listing, wanted);
  const sent = broader ?? wanted;
  const search = useTokenSearch(sent, listing, broader ? 0 : part.request);

  const searching = plan.kind === 'server';
  // The previous rows stay until the response arrives.
  const source = searching && sent && search.data ? search : list;
  // Rows of the previous search may stay, but not its empty result, and not rows of another page.
  const isHidden = source.isPlaceholderData && (source === list || source.data?.total === 0);
  const loaded = isHidden ? undefined : source.data?.items;
  const text = plan.kind === 'local' ? plan.text : source === search && broader ? wanted?.text : undefined;
  const shown = loaded && filter(loaded, text, state);
  // All matching tokens are loaded, so their number is known also after a change of their state.
  const complete = source === search ? broader !== undefined : isSmall;
  const total = complete || !source.data ? (shown?.length ?? 0) : source.data.total;

  return {
    rows: shown && part.of(exactFirst(shown, q, nameOf)),
    total,
    isOutdated: source.isPlaceholderData || (searching && source !== search),
    filter: q === debouncedQ ? listFilter(view, plan, shown ?? []) : undefined,
    plan,
    searchFailure: searching && sent ? search.failureReason : null,
    error: source.data ? null : list.error,
    retry: list.refetch,
  };
}

const nameOf = ({ name }: Token) => name;

interface Part {
  /** The page of the API that has the rows. */
  request: number;
  /** The rows among all of that page. */
  of: (tokens: Token[]) => Token[];
}

function partOf(page: number, size: number): Part {
  const pages = TOKENS_PER_REQUEST / size;
  const first = (page % pages) * size;
  return { request: Math.floor(page / pages), of: (tokens) => tokens.slice(first, first + size) };
}

function filter(tokens: Token[], text: string | undefined, state: string | undefined): Token[] {
  const named = text === undefined ? tokens : filterByText(tokens, text);
  // A token that was switched does not match the filter any more.
  return state === undefined ? named : named.filter((token) => token.state === state);
}
