import { useEffectEvent, useLayoutEffect } from 'react';

/** How many entries of the history, up to this one, are those of open dialogs. A member of the state of an entry. */
const DEPTH = 'dialogs';

/** What Back calls for each open dialog, the one below first. */
const open: (() => void)[] = [];

/** Entries of closed dialogs are being left. That is reported later. */
let isLeaving = false;

/**
 * Lets Back close a dialog, as people expect on a phone. While it is open, the history has an entry for it, with the
 * address of the page. `onBack` may ask first: a dialog that stays open gets a new entry.
 */
export function useBackCloses(opened: boolean, onBack: () => void) {
  const latest = useEffectEvent(onBack);
  useLayoutEffect(() => {
    if (!opened) return;
    const dialog = () => latest();
    open.push(dialog);
    window.addEventListener('popstate', onPop);
    queueMicrotask(settle);
    return () => {
      open.splice(open.indexOf(dialog), 1);
      queueMicrotask(settle);
    };
  }, [opened]);
}

/** Gives the history as many entries of dialogs as there are open ones, when all have opened and closed. */
function settle() {
  if (isLeaving) return;
  const surplus = depth() - open.length;
  if (surplus > 0) {
    isLeaving = true;
    window.history.go(-surplus);
  }
  for (let next = depth() + 1; next <= open.length; next += 1)
    window.history.pushState({ ...window.history.state, [DEPTH]: next }, '');
}

function onPop() {
  if (isLeaving) isLeaving = false;
  else for (const goBack of open.slice(depth()).toReversed()) goBack();
  // When those that close have closed.
  setTimeout(settle);
}

function depth(): number {
  const known: unknown = window.history.state?.[DEPTH];
  return typeof known === 'number' ? known : 0;
}
