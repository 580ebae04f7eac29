import { useEffect, useRef } from 'react';
import { useConnection } from '../../api/connection';
import { isOutage } from '../../api/error';

/** Forgets a failure that is about an outage when the outage is over. */
export function useEndOfOutage({ error, reset }: { error: Error | null; reset: () => void }) {
  const connection = useConnection();
  const wasLost = useRef(false);
  const isAbout = isOutage(error);
  useEffect(() => {
    const isOver = wasLost.current && connection === 'fine';
    wasLost.current = isAbout && connection !== 'fine';
    if (isAbout && isOver) reset();
  }, [connection, isAbout, reset]);
}
