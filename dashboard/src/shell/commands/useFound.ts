import { useDebouncedValue } from '@mantine/hooks';
import { useUserSearch } from '../../api/adminUsers';
import { isAdministrator, useUser } from '../../api/session';
import { DEFAULT_SORTING } from '../../api/tokenListing';
import { isKeyword } from '../../pages/admin/shared/keyword';
import { useKeyList } from '../../pages/keys/useKeyList';
import { mayBeSecret } from '../../shared/mayBeSecret';
import { type Item, keyItem, userItem } from './items';

const MAX_RESULTS = 6;
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
    status: undefined,
    sorting: DEFAULT_SORTING,
    page: 0,
  });
  const isSearch = plan.kind === 'local' || plan.kind === 'server';
  if (!isSearch || error) return { items: [], loading: query.trim() !== '' && !rows && !error };
  return { items: (rows ?? []).slice(0, MAX_RESULTS).map(keyItem), loading: !rows && !searchFailure };
}

/** Users, for administrators. A key is never sent, because the search is part of an address. */
export function useFoundUsers(query: string): Found {
  const [debounced] = useDebouncedValue(query.trim(), DEBOUNCE_MS);
  const isAllowed = isAdministrator(useUser());
  const isSearch = (text: string) => isAllowed && text !== '' && isKeyword(text) && !mayBeSecret(text);
  const { data, isFetching } = useUserSearch(isSearch(debounced) ? debounced : undefined);
  if (!isSearch(query.trim())) return NOTHING;
  return {
    items: (data?.items ?? []).slice(0, MAX_RESULTS).map(userItem),
    loading: isFetching || debounced !== query.trim(),
  };
}
