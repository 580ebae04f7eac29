import type { Locator, Page } from 'playwright-core';
import { see } from './see';

const MOST_STEPS = 60;

/** Presses Tab until this has the focus. */
export async function tabTo(page: Page, target: Locator) {
  await see(target);
  for (let step = 0; step < MOST_STEPS; step += 1) {
    if (await target.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`${target} cannot be reached by the keyboard`);
}
