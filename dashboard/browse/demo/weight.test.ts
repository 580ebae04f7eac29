import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { ANA, open } from '../harness/pages';
import { test } from '../harness/test';

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
    const scripts = await page.evaluate(() =>
      performance
        .getEntriesByType('resource')
        .map(({ name }) => name)
        .filter((name) => name.endsWith('.js')),
    );
    expect(scripts.length, scripts.join('\n')).toBeLessThanOrEqual(MAX_REQUESTS - 2);
  });
}

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
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Network.enable');
  await devtools.send('Network.setCacheDisabled', { cacheDisabled: true });
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
    return entries.filter(({ startTime }) => startTime < paint.startTime).map(({ name }) => name);
  });
}
