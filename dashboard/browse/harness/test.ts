import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { test as base, expect, inject } from 'vitest';
import { type Account, type Api, asRoot } from './accounts';
import { watchForErrors } from './browserErrors';
import { launchChromium } from './chromium';
import type { Fonts } from './fonts';

export interface VisitOptions {
  /** The signed-in user. Absent for nobody. */
  as?: Account;
  phone?: boolean;
  colorScheme?: 'light' | 'dark';
  fonts?: Fonts;
  /** The language of the browser. */
  locale?: 'en-US' | 'zh-CN';
  /** The URL of another server. */
  site?: string;
  /** Browser errors that this story expects. */
  expected?: RegExp[];
}

interface Fixtures {
  /** The browser with these fonts. It starts on first use. */
  browserWith: (fonts: Fonts) => Promise<Browser>;
  site: string;
  root: Api;
  /** Opens the start page in a new browser context. */
  visit: (options?: VisitOptions) => Promise<Page>;
}

const DESKTOP = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };
const TIMEOUT_MS = 30_000;

export const test = base.extend<Fixtures>({
  browserWith: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads the dependencies of a fixture here
    async ({}, use) => {
      const browsers = new Map<Fonts, Promise<Browser>>();
      await use((fonts) => {
        const browser = browsers.get(fonts) ?? launchChromium(fonts);
        browsers.set(fonts, browser);
        return browser;
      });
      for (const browser of browsers.values())
        await browser.then(
          (started) => started.close(),
          () => {},
        );
    },
    { scope: 'worker' },
  ],
  // biome-ignore lint/correctness/noEmptyPattern: as above
  site: async ({}, use) => use(inject('site')),
  root: async ({ site }, use) => use(await asRoot(site)),
  visit: async ({ browserWith, site, task }, use) => {
    const browserErrors: string[][] = [];
    const pages: Page[] = [];
    await use(
      async ({
        as,
        phone = false,
        colorScheme = 'light',
        fonts = 'noto',
        locale = 'en-US',
        site: other = site,
        expected = [],
      } = {}) => {
        const browser = await browserWith(fonts);
        const context = await browser.newContext({
          baseURL: other,
          viewport: phone ? PHONE : DESKTOP,
          hasTouch: phone,
          isMobile: phone,
          colorScheme,
          reducedMotion: 'reduce',
          locale,
          timezoneId: 'UTC',
          permissions: ['clipboard-read', 'clipboard-write'],
        });
        context.setDefaultTimeout(TIMEOUT_MS);
        browserErrors.push(watchForErrors(context, other, expected));
        if (as) {
          const { username, password } = as;
          const answer = await context.request.post('/api/user/login', { data: { username, password } });
          expect(answer.ok(), `${username} can sign in`).toBe(true);
        }
        const page = await context.newPage();
        pages.push(page);
        await page.goto('/');
        return page;
      },
    );
    if (task.result?.state === 'fail') await picture(pages, task.name);
    await Promise.all(pages.map((page) => page.context().close()));
    expect(browserErrors.flat(), 'browser errors').toEqual([]);
  },
});

/** Saves screenshots of a failed story. */
async function picture(pages: Page[], story: string) {
  for (const [index, page] of pages.entries()) {
    const name = `${story.replaceAll(/\W+/g, '-')}-${index + 1}.png`;
    await page.screenshot({ path: join(import.meta.dirname, '../screenshots/failed', name) });
  }
}
