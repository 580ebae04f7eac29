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

/**
 * Copies the text of a request, as `copyText` does. Called inside of a click: Safari forbids copying after the request,
 * but takes an item whose text comes later. Copies nothing if there is no text.
 */
export async function copyLater(text: Promise<string | undefined>): Promise<boolean> {
  try {
    await navigator.clipboard.write([itemOf(text)]);
    return true;
  } catch {
    const known = await text;
    return known !== undefined && copyText(known);
  }
}

function itemOf(text: Promise<string | undefined>): ClipboardItem {
  const type = 'text/plain';
  const blob = text.then((known) => {
    if (known === undefined) throw new Error('no text');
    return new Blob([known], { type });
  });
  // Where there are no items, nothing waits for it.
  blob.catch(() => {});
  return new ClipboardItem({ [type]: blob });
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
