import { useState } from 'react';

// Mantine gives the focus back 10 ms after a dialog closes, also where reduced motion ends it at once.
const FOCUS_IS_BACK_MS = 20;

/**
 * A secret that one dialog makes and the next shows. The next opens when the first is gone and has given
 * the focus back, so that it knows where the focus belongs.
 */
export function useSecretAfter<Secret>() {
  const [made, setMade] = useState<Secret>();
  const [isShown, setShown] = useState(false);
  return {
    secret: isShown ? made : undefined,
    keep: (secret: Secret) => setMade(secret),
    /** For `onExitTransitionEnd` of the first dialog, which may also have been cancelled. */
    show: () => {
      if (made !== undefined) setTimeout(() => setShown(true), FOCUS_IS_BACK_MS);
    },
    forget: () => {
      setMade(undefined);
      setShown(false);
    },
  };
}
