import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { ANA, open } from '../harness/pages';
import { test } from '../harness/test';

const MAX_BYTES = 300_000;

test('the sign-in page stays small', async ({ visit }) => {
  const page = await visit();
  expect(await bytesOf(page, '/sign-in')).toBeLessThan(MAX_BYTES);
});

test('the overview stays small', async ({ visit }) => {
  const page = await visit({ as: ANA });
  expect(await bytesOf(page, '/')).toBeLessThan(MAX_BYTES);
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
