import type { Locator } from 'playwright-core';

/** Waits until a person would see it. */
export async function visible(...things: Locator[]) {
  for (const thing of things) await thing.waitFor();
}

/** Waits until a person would no longer see it. */
export async function hidden(...things: Locator[]) {
  for (const thing of things) await thing.waitFor({ state: 'hidden' });
}
