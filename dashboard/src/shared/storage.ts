/** A value that was kept in this browser, or null. */
export function readStored(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    // The browser blocks storage.
    return null;
  }
}

/** Keeps a value, or forgets it if it is null. If the browser blocks storage, it does nothing. */
export function writeStored(key: string, value: string | null) {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch {
    // As above.
  }
}
