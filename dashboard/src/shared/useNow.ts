import { useSyncExternalStore } from 'react';

const STEP_SECONDS = 30;
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void) {
  listeners.add(listener);
  timer ??= setInterval(() => {
    for (const each of listeners) each();
  }, STEP_SECONDS * 1000);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

function roundedNow() {
  return Math.floor(Date.now() / 1000 / STEP_SECONDS) * STEP_SECONDS;
}

/** Unix seconds, updated every 30 seconds. All components share one timer. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, roundedNow);
}
