import { useSyncExternalStore } from 'react';
import type { ApiError } from './error';

export type Connection = 'fine' | 'unreachable' | 'unavailable';

let connection: Connection = 'fine';
const listeners = new Set<() => void>();

function set(next: Connection) {
  if (next === connection) return;
  connection = next;
  for (const listener of listeners) listener();
}

/** The client calls this after every request. `undefined` means success. */
export function reportResult(failure: ApiError | undefined) {
  set(failure?.isUnreachable ? 'unreachable' : failure?.isUnavailable ? 'unavailable' : 'fine');
}

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Calls back when the outage that has been reported is over. Does nothing if there is none. */
export function onceFine(callback: () => void) {
  if (connection === 'fine') return;
  const unsubscribe = subscribe(() => {
    if (connection !== 'fine') return;
    unsubscribe();
    callback();
  });
}

export function useConnection(): Connection {
  return useSyncExternalStore(subscribe, () => connection);
}
