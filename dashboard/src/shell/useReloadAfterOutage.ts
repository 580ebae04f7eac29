import { useEffect, useRef, useState } from 'react';
import { api, call } from '../api/client';
import { useConnection } from '../api/connection';

/**
 * For a page whose file did not load: finds out whether the server is away, and loads the page again when it is back.
 * Returns true while it waits for that.
 */
export function useReloadAfterOutage(isNeeded: boolean): boolean {
  const connection = useConnection();
  const [isKnown, setKnown] = useState(false);
  const wasLost = useRef(false);

  // The client reports what it finds out, and the banner goes on asking.
  useEffect(() => {
    if (!isNeeded) return;
    call(api.GET('/api/status'))
      .catch(() => {})
      .finally(() => setKnown(true));
  }, [isNeeded]);

  useEffect(() => {
    if (!isNeeded) return;
    if (connection !== 'fine') wasLost.current = true;
    else if (wasLost.current) window.location.reload();
  }, [isNeeded, connection]);

  return isNeeded && (!isKnown || connection !== 'fine');
}
