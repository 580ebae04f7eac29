import { readFileSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { resolve } from 'node:path';
import type { Browser } from '@playwright/test';
import type { Account } from '../harness/accounts';
import { ANA } from '../harness/pages';
import { expect, test } from '../harness/test';

const DOCUMENT = resolve(import.meta.dirname, '../../../docs/performance.md');
const ROUNDS = 5;
const CPU_SLOWDOWN = 4;

/** The presets of Chromium's developer tools: bytes per second, and milliseconds to each answer. */
const NETWORKS = {
  '4G': { downloadThroughput: 1_012_500, uploadThroughput: 168_750, latency: 165 },
  'slow 4G': { downloadThroughput: 180_000, uploadThroughput: 84_375, latency: 562.5 },
};

interface Measured {
  name: string;
  path: string;
  as?: Account;
  /** A page is usable when this is visible and the processor is free. */
  selector: string;
  target: string;
}

const PAGES: Measured[] = [
  { name: 'sign-in', path: '/sign-in', selector: 'form input', target: '2.5' },
  { name: 'keys', path: '/keys', as: ANA, selector: 'main a[href^="/keys/"]', target: '4.0' },
];

interface Times {
  firstPaint: number;
  usable: number;
}

test('measures how soon pages are usable', async ({ browserWith, site }) => {
  test.setTimeout(600_000);
  const browser = await browserWith('noto');
  const rows = [];
  for (const [network, conditions] of Object.entries(NETWORKS)) {
    for (const page of PAGES) {
      const times: Times[] = [];
      for (let round = 0; round < ROUNDS; round += 1)
        times.push(await measure(browser, site, page, conditions));
      const seconds = (which: keyof Times) => (median(times.map((one) => one[which])) / 1000).toFixed(2);
      const target = network === '4G' ? page.target : '';
      rows.push(
        `| ${page.name} | ${network} | ${seconds('firstPaint')} | ${seconds('usable')} | ${target} |`,
      );
    }
  }
  write([
    `Median of ${ROUNDS} loads with an empty cache. Load average of the machine at the end: ${loadavg()[0]?.toFixed(1)}.`,
    '',
    '| page | network | first paint, s | usable, s | target, s |',
    '|---|---|---:|---:|---:|',
    ...rows,
  ]);
});

/** Loads a page in a new browser context. */
async function measure(
  browser: Browser,
  site: string,
  { path, as, selector }: Measured,
  conditions: (typeof NETWORKS)['4G'],
): Promise<Times> {
  const context = await browser.newContext({ baseURL: site, viewport: { width: 390, height: 844 } });
  if (as) expect((await context.request.post('/api/user/login', { data: as })).ok()).toBe(true);
  const page = await context.newPage();
  const devtools = await context.newCDPSession(page);
  await devtools.send('Network.enable');
  await devtools.send('Network.emulateNetworkConditions', { offline: false, ...conditions });
  // As over HTTPS. Without it, Chromium accepts only gzip.
  await devtools.send('Network.setExtraHTTPHeaders', { headers: { 'Accept-Encoding': 'gzip, deflate, br' } });
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: CPU_SLOWDOWN });
  await page.addInitScript((wanted) => {
    const look = () => {
      const isThere = document.querySelector(wanted)?.checkVisibility({ visibilityProperty: true });
      // After the frame that shows it, when the page can react.
      if (isThere) requestAnimationFrame(() => setTimeout(() => performance.mark('usable')));
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  }, selector);
  await page.goto(path);
  const times = await page.waitForFunction(() => {
    const [paint] = performance.getEntriesByName('first-contentful-paint');
    const [usable] = performance.getEntriesByName('usable');
    return paint && usable && { firstPaint: paint.startTime, usable: usable.startTime };
  });
  const found = await times.jsonValue();
  await context.close();
  if (!found) throw new Error(`${path} was never usable`);
  return found;
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

/** Replaces the table in the documentation. */
function write(lines: string[]) {
  const [open, close] = ['<!-- dashboard -->', '<!-- end of dashboard -->'];
  const old = readFileSync(DOCUMENT, 'utf8');
  const [before, rest = ''] = old.split(open);
  const after = rest.split(close)[1];
  if (after === undefined) throw new Error(`${DOCUMENT} has no place for the dashboard`);
  writeFileSync(DOCUMENT, `${before}${open}\n${lines.join('\n')}\n${close}${after}`);
}
