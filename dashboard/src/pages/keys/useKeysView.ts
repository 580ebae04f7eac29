import { useSearchParams } from 'wouter';

/** What the page shows. Kept in the URL for reloads and the back button. */
export interface KeysView {
  q: string;
  /** 1 to 4. Absent means all. */
  status: number | undefined;
  /** Starts at 0. */
  page: number;
}

/** Typing in the search replaces the entry of the history. Other changes add one, unless `replace` is set. */
export type ChangeView = (changes: Partial<KeysView>, options?: { replace?: boolean }) => void;

export function useKeysView(): [KeysView, ChangeView] {
  const [params, setParams] = useSearchParams();
  const view: KeysView = {
    q: params.get('q') ?? '',
    status: count(params.get('status')) || undefined,
    page: Math.max(0, count(params.get('page')) - 1),
  };

  /** Returns to the first page, unless the change has a page. */
  function change(changes: Partial<KeysView>, { replace = 'q' in changes }: { replace?: boolean } = {}) {
    const { q, status, page } = { ...view, page: 0, ...changes };
    const shown = { q, status: status ? String(status) : '', page: page > 0 ? String(page + 1) : '' };
    const kept = Object.entries(shown).filter(([, value]) => value !== '');
    setParams(kept, { replace });
    if (changes.page !== undefined) window.scrollTo(0, 0);
  }

  return [view, change];
}

function count(text: string | null): number {
  return text !== null && /^\d{1,6}$/.test(text) ? Number(text) : 0;
}
