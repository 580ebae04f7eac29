import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { violations } from '../harness/accessibility';
import type { Fonts } from '../harness/fonts';
import { allPages, missing, open } from '../harness/pages';
import { horizontalOverflow } from '../harness/scrolling';
import { test } from '../harness/test';

const PICTURES = join(import.meta.dirname, '../screenshots');

interface Look {
  colorScheme: 'light' | 'dark';
  fonts: Fonts;
  locale: 'en-US' | 'zh-CN';
}

/** Checks accessibility and width of every page on desktop and phone, and takes screenshots. */
export function checkEveryPage(look: Look) {
  const { colorScheme, fonts, locale } = look;
  for (const phone of [false, true]) {
    const device = phone ? 'phone' : 'desktop';
    test(`every page is accessible and fits the screen: ${colorScheme}, ${fonts}, ${locale}, ${device}`, async ({
      visit,
      site,
    }) => {
      for (const { who, as, pages } of await allPages(site)) {
        const page = await visit({ as, phone, ...look, expected: missing });
        for (const [name, path] of pages) {
          await open(page, path);
          expect.soft(await violations(page.locator('html')), `${name}, as ${who} sees it`).toEqual([]);
          expect.soft(await horizontalOverflow(page), `${name} is wider than the screen`).toBe(0);
          await takePicture(page, `${name}-${colorScheme}-${device}`);
        }
      }
    });
  }
}

/** Takes a screenshot of the whole page. */
async function takePicture(page: Page, name: string) {
  const screen = page.viewportSize();
  if (!screen) throw new Error('the page has no viewport');
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  await page.setViewportSize({ ...screen, height: Math.max(screen.height, height) });
  await page.screenshot({ path: join(PICTURES, `${name}.png`), animations: 'disabled' });
  await page.setViewportSize(screen);
}
