import { useSyncExternalStore } from 'react';

/** A text that the browser did not let the page copy, so that the user has to. */
export interface ToCopy {
  text: string;
  onEnd: (isCopied: boolean) => void;
}

let toCopy: ToCopy | undefined;
const listeners = new Set<() => void>();

function show(next: ToCopy | undefined) {
  toCopy = next;
  for (const listener of listeners) listener();
}

/**
 * Copies a text, and returns whether it was copied. If the browser does not allow it, a dialog shows the text selected.
 * Pages over plain HTTP from another machine have no clipboard, and some browsers allow no copying after a request.
 */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    toCopy?.onEnd(false);
    return new Promise((resolve) => {
      const onEnd = (isCopied: boolean) => {
        show(undefined);
        resolve(isCopied);
      };
      show({ text, onEnd });
    });
  }
}

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
}

export function useToCopy(): ToCopy | undefined {
  return useSyncExternalStore(subscribe, () => toCopy);
}
