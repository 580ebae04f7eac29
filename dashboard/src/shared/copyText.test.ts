import { afterEach, describe, expect, it, vi } from 'vitest';
import { copyLater } from './copyText';

afterEach(() => vi.unstubAllGlobals());

/** A clipboard whose items are read as browsers do: the text may come after the click. */
function clipboard({ hasItems }: { hasItems: boolean }) {
  const copied: string[] = [];
  let isInClick = true;
  queueMicrotask(() => {
    isInClick = false;
  });
  class Item {
    constructor(readonly types: Record<string, Promise<Blob>>) {}
  }
  if (hasItems) vi.stubGlobal('ClipboardItem', Item);
  vi.stubGlobal('navigator', {
    clipboard: {
      write: async ([item]: [Item]) => {
        if (!isInClick) throw new Error('not allowed');
        const blob = await item.types['text/plain'];
        copied.push((await blob?.text()) ?? '');
      },
      writeText: async (text: string) => {
        copied.push(text);
      },
    },
  });
  return copied;
}

describe('a text that a request returns', () => {
  const answer = () => new Promise<string>((resolve) => setTimeout(() => resolve('sk-1')));

  it('is copied inside of the click', async () => {
    const copied = clipboard({ hasItems: true });
    expect(await copyLater(answer())).toBe(true);
    expect(copied).toEqual(['sk-1']);
  });

  it('is copied after the request where the clipboard has no items', async () => {
    const copied = clipboard({ hasItems: false });
    expect(await copyLater(answer())).toBe(true);
    expect(copied).toEqual(['sk-1']);
  });

  it.each([true, false])('is not copied if there is none (items: %s)', async (hasItems) => {
    const copied = clipboard({ hasItems });
    expect(await copyLater(Promise.resolve(undefined))).toBe(false);
    expect(copied).toEqual([]);
  });
});
