import { useState } from 'react';
import { readStored, writeStored } from './storage';

/** How many rows a list shows on a page: one of `sizes`, which the browser remembers. The first one is the default. */
export function usePageSize(storageKey: string, sizes: [number, ...number[]]) {
  const [size, setSize] = useState(() => {
    const stored = Number(readStored(storageKey));
    return sizes.includes(stored) ? stored : sizes[0];
  });

  function choose(chosen: number) {
    setSize(chosen);
    writeStored(storageKey, String(chosen));
  }

  return [size, choose] as const;
}
