import { useState } from 'react';
import { FOCUS_RETURN_MS } from './focus';

/**
 * For a secret that one dialog creates and the next dialog shows. The second dialog opens after the first one has
 * closed and returned the focus, so that the second returns the focus to the same element.
 */
export function useSecretDialog<Secret>() {
  const [created, setCreated] = useState<Secret>();
  const [isShown, setShown] = useState(false);
  return {
    secret: isShown ? created : undefined,
    keep: (secret: Secret) => setCreated(secret),
    /** For `onExitTransitionEnd` of the first dialog. Does nothing if that dialog was cancelled. */
    show: () => {
      if (created !== undefined) setTimeout(() => setShown(true), FOCUS_RETURN_MS);
    },
    forget: () => {
      setCreated(undefined);
      setShown(false);
    },
  };
}
