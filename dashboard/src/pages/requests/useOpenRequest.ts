import { useEffect, useRef, useState } from 'react';
import { useSearchParams } from 'wouter';
import type { UsageScope } from '../../api/usageReports';
import { withFilters } from '../../shared/listQuery';
import { requestsHref } from '../../shared/usage/requestFilters';

/** The request whose details are open. The address names it, so a link opens it, and Back closes it. */
export function useOpenRequest(scope: UsageScope) {
  const [params, setParams] = useSearchParams();
  const id = params.get('id') || undefined;
  // Whether the list was there before, so that the entry of the history before this one has it.
  const [hasList, setHasList] = useState(id === undefined);
  if (id === undefined && !hasList) setHasList(true);

  // The browser goes back a moment later, and a second click must not leave the list.
  const leaving = useRef<string>(undefined);
  useEffect(() => {
    if (id !== leaving.current) leaving.current = undefined;
  }, [id]);

  function close() {
    if (hasList) {
      if (leaving.current !== id) window.history.back();
      leaving.current = id;
      return;
    }
    setParams((current) => withFilters(current, { id: '' }), { replace: true });
  }

  return {
    id,
    hrefOf: (of: string) => requestsHref(scope, { ...Object.fromEntries(params), id: of }),
    close,
  };
}
