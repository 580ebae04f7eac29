import { useSyncExternalStore } from 'react';

const STORAGE_KEY = 'keymeter-single-keys';
const OFF = 'off';

let enabled = read();
const listeners = new Set<() => void>();

function read(): boolean {
  try {
    return localStorage.getItem(STORAGE_KEY) !== OFF;
  } catch {
    // The browser blocks storage.
    return true;
  }
}

/** Whether shortcuts of a single key work. People who dictate can turn them off (WCAG 2.1.4). */
export function areSingleKeysOn(): boolean {
  return enabled;
}

export function setSingleKeys(on: boolean) {
  enabled = on;
  try {
    if (on) localStorage.removeItem(STORAGE_KEY);
    else localStorage.setItem(STORAGE_KEY, OFF);
  } catch {
    // The browser blocks storage, so the choice lasts until the page is closed.
  }
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useSingleKeys(): boolean {
  return useSyncExternalStore(subscribe, areSingleKeysOn);
}
