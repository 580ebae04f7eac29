import { test as base, expect, type Page } from '@playwright/test';
import { Server, type ServerOptions } from '../server/Server';
import { type ServerName, siteOf } from '../server/started';
import { type Account, type Api, asRoot } from './accounts';
import { watchForErrors } from './browserErrors';
import { type BrowserWith, launchChromium } from './chromium';
import { launchFirefox } from './firefox';
import type { Fonts } from './fonts';

export { expect } from '@playwright/test';

export interface VisitOptions {
  /** The signed-in user. Absent for nobody. */
  as?: Account;
  /** The first page; default the start page. */
  path?: string;
  phone?: boolean;
  colorScheme?: 'light' | 'dark';
  fonts?: Fonts;
  /** The language of the browser. */
  locale?: 'en-US' | 'zh-CN' | 'de-DE';
  /** The URL of another server. */
  site?: string;
  /** Browser errors that this story expects. */
  expected?: RegExp[];
}

/** Opens a page in a new browser context. */
export type Visit = (options?: VisitOptions) => Promise<Page>;

interface Fixtures {
  visit: Visit;
  /** Starts a server that ends with the test. */
  startServer: (options?: ServerOptions) => Promise<Server>;
}

export interface WorkerOptions {
  server: ServerName;
}

interface WorkerFixtures {
  browserWith: BrowserWith;
  /** The URL of the server. */
  site: string;
  /** The API with a session of `root`. */
  root: Api;
}

const DESKTOP = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };

/** How long the demo's data may take on a busy machine. */
const START_MS = 180_000;

export const test = base.extend<Fixtures, WorkerOptions & WorkerFixtures>({
  server: ['empty', { option: true, scope: 'worker' }],
  browserWith: [
    async ({ playwright, browserName }, use) => {
      const browsers = new Map<Fonts, ReturnType<BrowserWith>>();
      await use((fonts) => {
        const launch = () =>
          browserName === 'firefox'
            ? launchFirefox(playwright.firefox)
            : launchChromium(playwright.chromium, fonts);
        const browser = browsers.get(fonts) ?? launch();
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
  site: [async ({ server }, use) => use(await siteOf(server)), { scope: 'worker', timeout: START_MS }],
  root: [async ({ site }, use) => use(await asRoot(site)), { scope: 'worker' }],
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the dependencies of a fixture here
  startServer: async ({}, use) => {
    const servers: Server[] = [];
    await use(async (options) => {
      const server = await Server.start(options);
      servers.push(server);
      return server;
    });
    await Promise.all(servers.map((server) => server.stop()));
  },
  visit: async ({ browserWith, site }, use, testInfo) => {
    const browserErrors: string[][] = [];
    const pages: Page[] = [];
    await use(
      async ({
        as,
        path = '/',
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
        browserErrors.push(watchForErrors(context, other, expected));
        if (as) {
          const { username, password } = as;
          const answer = await context.request.post('/api/user/login', { data: { username, password } });
          expect(answer.ok(), `${username} can sign in`).toBe(true);
        }
        const page = await context.newPage();
        pages.push(page);
        await page.goto(path);
        return page;
      },
    );
    // Playwright's own setting takes them of tests that pass, too, because it does not know yet.
    if (testInfo.errors.length > 0)
      for (const [index, page] of pages.entries())
        await page.screenshot({ path: testInfo.outputPath(`page-${index + 1}.png`) });
    await Promise.all(pages.map((page) => page.context().close()));
    expect(browserErrors.flat(), 'browser errors').toEqual([]);
  },
});
