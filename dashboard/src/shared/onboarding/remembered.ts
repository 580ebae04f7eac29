import { useSyncExternalStore } from 'react';
import { readStored, writeStored } from '../storage';

/** What a user did in this browser. */
type Fact = 'key-copied' | 'user-steps-dismissed' | 'administrator-steps-dismissed';

const listeners = new Set<() => void>();
// In case the browser blocks storage.
const sinceLoad = new Set<string>();

function storageKey(fact: Fact, userId: number): string {
  return `keymeter-${fact}-${userId}`;
}

export function isRemembered(fact: Fact, userId: number): boolean {
  const key = storageKey(fact, userId);
  return sinceLoad.has(key) || readStored(key) !== null;
}

export function remember(fact: Fact, userId: number) {
  const key = storageKey(fact, userId);
  sinceLoad.add(key);
  writeStored(key, '1');
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useRemembered(fact: Fact, userId: number): boolean {
  return useSyncExternalStore(subscribe, () => isRemembered(fact, userId));
}
