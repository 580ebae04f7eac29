import type { Locator } from '@playwright/test';

/** Waits until all elements are visible. */
export async function visible(...elements: Locator[]) {
  for (const element of elements) await element.waitFor();
}

/** Waits until all elements are hidden or removed. */
export async function hidden(...elements: Locator[]) {
  for (const element of elements) await element.waitFor({ state: 'hidden' });
}
