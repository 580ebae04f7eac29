import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { violations } from '../harness/accessibility';
import {
  coveredControls,
  cutOff,
  lasting,
  resize,
  SCREENS,
  type Screen,
  screenName,
} from '../harness/layout';
import { type Look, lookName } from '../harness/looks';
import { allPages, missing, open } from '../harness/pages';
import { horizontalOverflow } from '../harness/scrolling';
import { test } from '../harness/test';

const PICTURES = join(import.meta.dirname, '../screenshots');

/** The screens on which accessibility is checked and pictures are taken. */
const DEVICES: Record<number, string> = { 390: 'phone', 1280: 'desktop' };

/** There are many pages. */
const TIMEOUT_MS = 600_000;

/** Opens every page once, resizes it to all screens, and checks and photographs it. */
export function checkEveryPage(look: Look) {
  const { colorScheme } = look;
  test(
    `every page has its own URL and title, is accessible and fits all screens: ${lookName(look)}`,
    async ({ visit, site }) => {
      const found: string[] = [];
      const titles = new Map<string, string>();
      for (const { who, as, pages } of await allPages(site)) {
        const page = await visit({ as, ...look, expected: missing });
        for (const [name, path] of pages) {
          const report = (where: string, problems: string[]) =>
            found.push(...problems.map((problem) => `${name}, as ${who} sees it, ${where}: ${problem}`));
          await open(page, path);
          expect(page.url()).toBe(site + path);
          const heading = await page.getByRole('heading', { level: 1 }).innerText();
          const title = await page.title();
          expect(title, name).toContain(heading);
          titles.set(heading, title);
          for (const screen of SCREENS) {
            await resize(page, screen);
            const where = screenName(screen);
            report(where, await lasting(() => misfits(page)));
            const device = screen.zoom ? undefined : DEVICES[screen.width];
            if (!device) continue;
            report(where, await violations(page.locator('html')));
            await takePicture(page, screen, `${name}-${colorScheme}-${device}`);
          }
          report('enlarged, covered', await lasting(() => coveredControls(page.locator('html'))));
        }
      }
      expect(found).toEqual([]);
      expect(new Set(titles.values()).size).toBe(titles.size);
    },
    TIMEOUT_MS,
  );
}

/** What does not fit the screen. */
async function misfits(page: Page): Promise<string[]> {
  const overflow = await horizontalOverflow(page);
  const wide = overflow > 0 ? [`${overflow} pixels wider than the screen`] : [];
  return [...wide, ...(await cutOff(page.locator('html')))];
}

/** Takes a screenshot of the whole page. */
async function takePicture(page: Page, screen: Screen, name: string) {
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  await resize(page, { ...screen, height: Math.max(screen.height, height) });
  await page.screenshot({ path: join(PICTURES, `${name}.png`), animations: 'disabled', fullPage: true });
}
