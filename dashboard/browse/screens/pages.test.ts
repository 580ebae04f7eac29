import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { checkPage } from '../harness/checkPage';
import { resize, SCREENS } from '../harness/layout';
import { DARK, LIGHT, lookName } from '../harness/looks';
import { PAGES, settled, visitTo } from '../harness/pages';
import { expect, test } from '../harness/test';

const PICTURES = join(import.meta.dirname, '../screenshots');
const DEVICES = { phone: 390, desktop: 1280 };

for (const { texts: _, ...look } of [LIGHT, DARK]) {
  for (const demoPage of PAGES) {
    const { name } = demoPage;
    test(`${name} is accessible and fits all screens: ${lookName(look)}`, async ({ visit, site }) => {
      const to = await visitTo(site, demoPage);
      const page = await visit({ ...look, ...to });
      await settled(page);
      expect(page.url()).toBe(site + to.path);
      await checkPage(page, SCREENS);
      for (const [device, width] of Object.entries(DEVICES))
        await takePicture(page, width, `${name}-${look.colorScheme}-${device}`);
    });
  }
}

/** Takes a screenshot of the whole page. */
async function takePicture(page: Page, width: number, name: string) {
  await resize(page, { width, height: 800 });
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  await resize(page, { width, height: Math.max(800, height) });
  await page.screenshot({ path: join(PICTURES, `${name}.png`), animations: 'disabled', fullPage: true });
}
