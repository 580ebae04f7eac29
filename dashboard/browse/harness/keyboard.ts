import type { Locator, Page } from '@playwright/test';
import { visible } from './visibility';

const MAX_TAB_PRESSES = 60;

/** Presses Tab until the target has the focus. */
export async function tabTo(page: Page, target: Locator) {
  await visible(target);
  for (let step = 0; step < MAX_TAB_PRESSES; step += 1) {
    if (await target.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`${target} is not reachable by keyboard`);
}
