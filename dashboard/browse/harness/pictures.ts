import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { resize } from './layout';

const DIRECTORY = join(import.meta.dirname, '../screenshots');
const DEVICES = { phone: 390, desktop: 1280 };

/** Takes screenshots of the whole page. */
export async function takePictures(page: Page, name: string) {
  for (const [device, width] of Object.entries(DEVICES)) {
    await resize(page, { width, height: 800 });
    const height = await page.evaluate(() => document.documentElement.scrollHeight);
    await resize(page, { width, height: Math.max(800, height) });
    const path = join(DIRECTORY, `${name}-${device}.png`);
    await page.screenshot({ path, animations: 'disabled', fullPage: true });
  }
}
