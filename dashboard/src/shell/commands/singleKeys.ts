import { useSyncExternalStore } from 'react';
import { readStored, writeStored } from '../../shared/storage';

const STORAGE_KEY = 'keymeter-single-keys';
const OFF = 'off';

let enabled = readStored(STORAGE_KEY) !== OFF;
const listeners = new Set<() => void>();

/** Whether shortcuts of a single key work. People who dictate can turn them off (WCAG 2.1.4). */
export function areSingleKeysOn(): boolean {
  return enabled;
}

export function setSingleKeys(on: boolean) {
  enabled = on;
  writeStored(STORAGE_KEY, on ? null : OFF);
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useSingleKeys(): boolean {
  return useSyncExternalStore(subscribe, areSingleKeysOn);
}
