import { useDebouncedValue } from '@mantine/hooks';
import { useUserSearch } from '../../api/adminUsers';
import { useRequestsById } from '../../api/requestHistory';
import { limits } from '../../api/serverLimits';
import { isAdministrator, useUser } from '../../api/session';
import { DEFAULT_SORTING } from '../../api/tokenListing';
import { isKeyword } from '../../pages/admin/shared/keyword';
import { isSearchable, useAllKeys } from '../../pages/admin/shared/useAllKeys';
import { exactFirst } from '../../pages/keys/search';
import { useKeyList } from '../../pages/keys/useKeyList';
import { mayBeKey, mayBeSecret } from '../../shared/mayBeSecret';
import { useNow } from '../../shared/useNow';
import { type Item, keyItem, ownedKeyItem, requestItem, requestSearchItem, userItem } from './items';

export const MAX_RESULTS = 6;
const DEBOUNCE_MS = 400;

/** What the server found. */
export interface Found {
  items: Item[];
  loading: boolean;
}

export const NOTHING: Found = { items: [], loading: false };

/** Own keys by name or key. */
export function useFoundKeys(query: string): Found {
  const { rows, plan, error, searchFailure } = useKeyList({
    q: query,
    state: undefined,
    sorting: DEFAULT_SORTING,
    page: 0,
  });
  const isSearch = plan.kind === 'local' || plan.kind === 'server';
  if (!isSearch || error) return { items: [], loading: query.trim() !== '' && !rows && !error };
  return { items: (rows ?? []).slice(0, MAX_RESULTS).map(keyItem), loading: !rows && !searchFailure };
}

/** The keys of others by name or key, for administrators. */
export function useFoundKeysOfOthers(query: string): Found {
  const { id } = useUser();
  const { debounced, isSearch, isSettled } = useAdministratorSearch(query, isSearchable);
  const { query: keys } = useAllKeys(debounced, {
    userId: '',
    listing: { state: undefined, sorting: DEFAULT_SORTING },
    page: 0,
    enabled: isSearch(debounced),
  });
  if (!isSearch(query.trim())) return NOTHING;
  const others = keys.data?.items.filter(({ user_id }) => user_id !== id) ?? [];
  return { items: best(others.map(ownedKeyItem), query), loading: keys.isFetching || !isSettled };
}

/** Users, for administrators. A key is never sent, because the search is part of an address. */
export function useFoundUsers(query: string): Found {
  const isUser = (text: string) => isKeyword(text) && !mayBeSecret(text);
  const { debounced, isSearch, isSettled } = useAdministratorSearch(query, isUser);
  const { data, isFetching } = useUserSearch(isSearch(debounced) ? debounced : undefined);
  if (!isSearch(query.trim())) return NOTHING;
  return { items: best((data?.items ?? []).map(userItem), query), loading: isFetching || !isSettled };
}

/** Shorter texts with a digit are more often names than IDs. The server reads many requests for one that is not there. */
const LEAST_ID = 8;

/** Requests of all days by the ID that a gateway knows, or the search for it. Never sends what may be a key. */
export function useFoundRequests(query: string): Found {
  const user = useUser();
  const scope = isAdministrator(user) ? 'allUsers' : 'own';
  const text = query.trim();
  const [debounced] = useDebouncedValue(text, DEBOUNCE_MS);
  const isAllowed = isAdministrator(user) || user.token_api_enabled;
  const isSearched = isAllowed && isRequestId(debounced) && debounced.length >= LEAST_ID;
  const { data, isFetching } = useRequestsById(scope, isSearched ? debounced : undefined, MAX_RESULTS);
  const now = useNow();
  if (!isAllowed || !isRequestId(text)) return NOTHING;
  const isSettled = debounced === text;
  const found = isSearched && isSettled ? (data?.items ?? []) : [];
  return {
    items:
      found.length > 0
        ? found.map((request) => requestItem(request, scope, now))
        : [requestSearchItem(text, scope)],
    loading: text.length >= LEAST_ID && (isFetching || !isSettled),
  };
}

function isRequestId(text: string): boolean {
  return text.length <= limits.request_id_characters && /^\S*\d\S*$/.test(text) && !mayBeKey(text);
}

function useAdministratorSearch(query: string, isAcceptable: (text: string) => boolean) {
  const [debounced] = useDebouncedValue(query.trim(), DEBOUNCE_MS);
  const isAllowed = isAdministrator(useUser());
  return {
    debounced,
    isSearch: (text: string) => isAllowed && text !== '' && isAcceptable(text),
    isSettled: debounced === query.trim(),
  };
}

function best(items: Item[], query: string): Item[] {
  return exactFirst(items, query, ({ label }) => label).slice(0, MAX_RESULTS);
}
