import type { Page } from '@playwright/test';
import { createUser, done, newKey, ROOT, signedIn } from '../harness/accounts';
import { eventually } from '../harness/eventually';
import { asGateway } from '../harness/gateway';
import { lasting, resize } from '../harness/layout';
import { waitPastMidnight } from '../harness/midnight';
import { settled } from '../harness/pages';
import { hiddenControls } from '../harness/scrolling';
import { expect, test } from '../harness/test';
import { hidden, visible } from '../harness/visibility';

test('a list is a table where the table fits, and cards where it does not', async ({ visit, root, site }) => {
  const tia = await createUser(root, 'tia-with-a-long-name');
  const api = await signedIn(site, tia);
  for (const name of ['Website', 'A name of several words and about fifty letters'])
    await newKey(api, name, { expired_time: 4_000_000_000, period_limits: { day: 5_000_000 } });
  const page = await visit({ as: tia, path: '/keys' });
  const table = page.getByRole('table', { name: 'Your keys' });
  const cards = page.getByRole('list', { name: 'Your keys' });
  const order = page.getByRole('combobox', { name: 'Order' });
  await visible(table);
  await hidden(order);
  for (const width of [1024, 1280]) {
    await resize(page, { width, height: 800 });
    await visible(width < 1280 ? cards : table);
    await eventually(() => order.count()).toBe(width < 1280 ? 1 : 0);
    expect.soft(await lasting(() => hiddenControls(cards.or(table))), `${width}`).toEqual([]);
    expect.soft(await lasting(() => broken(page)), `${width}`).toEqual([]);
  }
});

test('no list is wider than its place, and no time is broken', async ({ visit, root, site }) => {
  const tia = await createUser(root, 'tia-with-a-long-name');
  const name = 'A name of several words and about fifty letters';
  const { id, key } = await newKey(await signedIn(site, tia), name);
  const gateway = await asGateway(site, root);
  await waitPastMidnight();
  await done(gateway.POST('/api/gateway/charge', { body: { key, quota: 1, model: 'o3' } }));
  const page = await visit({ as: ROOT });
  const paths = ['users', 'tokens', 'audit', 'usage', 'usage/requests', `users/${tia.id}`, `tokens/${id}`];
  for (const path of paths) {
    await page.goto(`/admin/${path}`);
    await settled(page);
    for (const width of [390, 768, 1024, 1180, 1280, 1440]) {
      await resize(page, { width, height: 800 });
      const where = `${path} at ${width} pixels`;
      expect.soft(await lasting(() => tooWide(page)), where).toEqual([]);
      expect.soft(await lasting(() => broken(page)), where).toEqual([]);
      expect.soft(await emptyLabels(page), where).toEqual([]);
    }
  }
});

/** The tables of lists that are wider than what is around them. */
function tooWide(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll('table')]
      .filter(({ offsetWidth, parentElement }) => offsetWidth > (parentElement?.clientWidth ?? 0) + 1)
      .map((table) => table.getAttribute('aria-label') ?? ''),
  );
}

/** The times that take more than a line. */
function broken(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll('main time')]
      .filter((time) => time.getClientRects().length > 1)
      .map(({ textContent }) => textContent ?? ''),
  );
}

/** The lines of cards with a label and nothing else. */
function emptyLabels(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll('main li dl > div')]
      .filter((line) => line.checkVisibility() && !line.querySelector('dd')?.clientWidth)
      .map(({ textContent }) => textContent ?? ''),
  );
}
