import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { violations } from '../harness/accessibility';
import type { Fonts } from '../harness/fonts';
import { everyPage, open } from '../harness/pages';
import { horizontalOverflow } from '../harness/scrolling';
import { test } from '../harness/test';

const PICTURES = join(import.meta.dirname, '../screenshots');
// The answer to a look at somebody else's key.
const expected = [/^404 GET \/api\/token\/999999/];

/** Goes through every page, on a desk and on a phone: what axe and a ruler say, and a picture of each. */
export function walkThroughEveryPage(colorScheme: 'light' | 'dark', fonts: Fonts) {
  for (const phone of [false, true]) {
    const device = phone ? 'phone' : 'desktop';
    test(`every page is accessible and fits the screen: ${colorScheme}, ${fonts}, ${device}`, async ({
      visit,
      site,
    }) => {
      for (const { who, as, pages } of await everyPage(site)) {
        const page = await visit({ as, phone, colorScheme, fonts, expected });
        for (const [name, path] of pages) {
          await open(page, path);
          expect.soft(await violations(page.locator('html')), `${name}, as ${who} sees it`).toEqual([]);
          expect.soft(await horizontalOverflow(page), `${name} goes over the edge`).toBe(0);
          await takePicture(page, `${name}-${colorScheme}-${device}`);
        }
      }
    });
  }
}

/** On a screen that is high enough for all of it. */
async function takePicture(page: Page, name: string) {
  const screen = page.viewportSize();
  if (!screen) throw new Error('a page without a screen');
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  await page.setViewportSize({ ...screen, height: Math.max(screen.height, height) });
  await page.screenshot({ path: join(PICTURES, `${name}.png`), animations: 'disabled' });
  await page.setViewportSize(screen);
}
