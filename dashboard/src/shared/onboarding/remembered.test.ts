import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

beforeEach(() => vi.resetModules());
afterEach(() => vi.unstubAllGlobals());

describe('a fact', () => {
  it('is remembered for one user, also after a reload', async () => {
    const stored = new Map<string, string>();
    vi.stubGlobal('localStorage', {
      getItem: (key: string) => stored.get(key) ?? null,
      setItem: (key: string, value: string) => stored.set(key, value),
    });
    const before = await import('./remembered');
    expect(before.isRemembered('key-copied', 7)).toBe(false);
    before.remember('key-copied', 7);
    vi.resetModules();
    const { isRemembered } = await import('./remembered');
    expect(isRemembered('key-copied', 7)).toBe(true);
    expect(isRemembered('key-copied', 8)).toBe(false);
    expect(isRemembered('user-steps-dismissed', 7)).toBe(false);
  });

  it('lasts until the page is closed if the browser blocks storage', async () => {
    vi.stubGlobal('localStorage', undefined);
    const { isRemembered, remember } = await import('./remembered');
    remember('user-steps-dismissed', 7);
    expect(isRemembered('user-steps-dismissed', 7)).toBe(true);
  });
});
