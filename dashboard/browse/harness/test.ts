import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { test as base, expect, inject } from 'vitest';
import { type Account, type Api, asRoot } from './accounts';
import { watchForErrors } from './browserErrors';
import { launchChromium } from './chromium';
import type { Fonts } from './fonts';

interface Visit {
  /** Signed in already; else nobody. */
  as?: Account;
  phone?: boolean;
  colorScheme?: 'light' | 'dark';
  fonts?: Fonts;
  /** Another server than that of this part. */
  site?: string;
  /** What must not count as trouble in this story, such as a refusal that it is about. */
  expected?: RegExp[];
}

interface Fixtures {
  /** The browser that writes with these fonts, started when it is first wanted. */
  browserWith: (fonts: Fonts) => Promise<Browser>;
  site: string;
  root: Api;
  /** Opens a browser of its own for somebody, on the overview or whatever page a sign-in needs. */
  visit: (visit?: Visit) => Promise<Page>;
}

const DESKTOP = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };
const PATIENCE_MS = 15_000;

export const test = base.extend<Fixtures>({
  browserWith: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads here what a fixture needs
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
          locale: 'en-US',
          timezoneId: 'UTC',
          permissions: ['clipboard-read', 'clipboard-write'],
        });
        context.setDefaultTimeout(PATIENCE_MS);
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
    expect(browserErrors.flat(), 'troubles in the browser').toEqual([]);
  },
});

/** What was to be seen when a story went wrong. */
async function picture(pages: Page[], story: string) {
  for (const [index, page] of pages.entries()) {
    const name = `${story.replaceAll(/\W+/g, '-')}-${index + 1}.png`;
    await page.screenshot({ path: join(import.meta.dirname, '../screenshots/failed', name) });
  }
}
