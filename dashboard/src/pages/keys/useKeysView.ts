import { useEffect } from 'react';
import { useSearchParams } from 'wouter';
import { DEFAULT_SORTING, readSorting, readState, type TokenListing } from '../../api/tokenListing';
import { mayBeSecret } from '../../shared/mayBeSecret';
import { useSecretText } from '../../shared/search/handOver';

/** What the page shows. Kept in the URL for reloads and the back button. */
export interface KeysView extends TokenListing {
  /** Not in the URL if it may be a key. */
  q: string;
  /** Starts at 0. */
  page: number;
}

/** Typing in the search replaces the entry of the history. Other changes add one, unless `replace` is set. */
export type ChangeView = (changes: Partial<KeysView>, options?: { replace?: boolean }) => void;

export function useKeysView(): [KeysView, ChangeView] {
  const [params, setParams] = useSearchParams();
  const [secret, setSecret] = useSecretText();
  const view: KeysView = {
    q: secret || (params.get('q') ?? ''),
    state: readState(params.get('state')),
    group: params.get('group') ?? undefined,
    sorting: readSorting(params.get('sort')),
    page: Math.max(0, count(params.get('page')) - 1),
  };

  /** Returns to the first page, unless the change has a page. */
  function change(changes: Partial<KeysView>, { replace = 'q' in changes }: { replace?: boolean } = {}) {
    const { q, state, group = '', sorting, page } = { ...view, page: 0, ...changes };
    const isSecret = mayBeSecret(q);
    setSecret(isSecret ? q : '');
    const shown = {
      q: isSecret ? '' : q,
      state: state ?? '',
      group,
      sort: sorting === DEFAULT_SORTING ? '' : sorting,
      page: page > 0 ? String(page + 1) : '',
    };
    const kept = Object.entries(shown).filter(([, value]) => value !== '');
    setParams(kept, { replace });
    if (changes.page !== undefined) window.scrollTo(0, 0);
  }

  // A key that someone put into the URL leaves it.
  const isExposed = mayBeSecret(params.get('q') ?? '');
  useEffect(() => {
    if (isExposed) change({}, { replace: true });
  });

  return [view, change];
}

function count(text: string | null): number {
  return text !== null && /^\d{1,6}$/.test(text) ? Number(text) : 0;
}
