import { useEffect, useState } from 'react';
import { ApiError } from '../api/error';

/** Seconds until a 429 response allows another request, counted down. `undefined` without such a failure. */
export function useSecondsLeft(failure: Error | null): number | undefined {
  const [left, setLeft] = useState<number>();

  useEffect(() => {
    if (!(failure instanceof ApiError) || failure.status !== 429 || failure.retryAfter === undefined) {
      setLeft(undefined);
      return;
    }
    const end = Date.now() + failure.retryAfter * 1000;
    const update = () => setLeft(Math.max(0, Math.ceil((end - Date.now()) / 1000)));
    update();
    const timer = setInterval(update, 1000);
    return () => clearInterval(timer);
  }, [failure]);

  return left;
}
