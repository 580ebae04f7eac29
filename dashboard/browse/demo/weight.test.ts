import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { ANA, open } from '../harness/pages';
import { expect, test } from '../harness/test';

const DASHBOARD = join(import.meta.dirname, '../..');
const MAX_BYTES = 250_000;
const MAX_REQUESTS = 8;

const PAGES = [
  { path: '/sign-in', as: undefined },
  { path: '/', as: ANA },
  { path: '/keys', as: ANA },
];

for (const { path, as } of PAGES) {
  test(`the first load of ${path} is small and needs few requests`, async ({ visit }) => {
    const page = await visit({ as });
    expect(await bytesOf(page, path)).toBeLessThan(MAX_BYTES);
    const requests = await requestsToFirstPaint(page);
    expect(requests.length, requests.join('\n')).toBeLessThanOrEqual(MAX_REQUESTS);
  });
}

test('the styles of all components are there', () => {
  const read = (directory: string, end: string) =>
    readdirSync(directory)
      .filter((name) => name.endsWith(end))
      .map((name) => readFileSync(join(directory, name), 'utf8'))
      .join();
  const classesOf = (text: string) => new Set(text.match(/\bm_[0-9a-f]{5,8}\b/g));
  const all = classesOf(readFileSync(join(DASHBOARD, 'node_modules/@mantine/core/styles.css'), 'utf8'));
  const loaded = classesOf(read(join(DASHBOARD, 'dist/assets'), '.css'));
  const used = classesOf(read(join(DASHBOARD, 'dist/assets'), '.js'));
  expect([...used].filter((name) => all.has(name) && !loaded.has(name))).toEqual([]);
});

test('the Content-Security-Policy allows only files of this site', async ({ site }) => {
  const { headers } = await fetch(site);
  const policy = new Map(
    (headers.get('content-security-policy') ?? '').split(';').map((directive) => {
      const [name = '', ...sources] = directive.trim().split(' ');
      return [name, sources.join(' ')];
    }),
  );
  expect(policy.get('default-src')).toBe("'self'");
  expect(policy.get('script-src')).toBe("'self'");
  expect(policy.get('connect-src')).toBe("'self'");
  expect(policy.get('frame-ancestors')).toBe("'none'");
});

/** The transferred bytes of a page, without cache. */
async function bytesOf(page: Page, path: string): Promise<number> {
  // Ends what the page before still loads.
  await page.goto('about:blank');
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Network.enable');
  await devtools.send('Network.setCacheDisabled', { cacheDisabled: true });
  // As over HTTPS. Without it, Chromium accepts only gzip.
  await devtools.send('Network.setExtraHTTPHeaders', { headers: { 'Accept-Encoding': 'gzip, deflate, br' } });
  let bytes = 0;
  devtools.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength;
  });
  await open(page, path);
  await page.waitForLoadState('networkidle');
  return bytes;
}

/** The requests that the page sent before something was visible. */
function requestsToFirstPaint(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const [paint] = performance.getEntriesByName('first-contentful-paint');
    if (!paint) throw new Error('nothing was painted');
    const entries = [
      ...performance.getEntriesByType('navigation'),
      ...performance.getEntriesByType('resource'),
    ];
    const names = entries.filter(({ startTime }) => startTime < paint.startTime).map(({ name }) => name);
    // A file that is used twice is an entry twice.
    return [...new Set(names)];
  });
}
