import { readFile } from 'node:fs/promises';
import { expect } from 'vitest';
import { violations } from '../harness/accessibility';
import { createUser, done, newKey, signedIn } from '../harness/accounts';
import { asGateway } from '../harness/gateway';
import { waitPastMidnight } from '../harness/midnight';
import { horizontalOverflow } from '../harness/scrolling';
import { test } from '../harness/test';
import { visible } from '../harness/visibility';

test('usage over chosen days, with a ranking of the keys, is in the address', async ({
  visit,
  root,
  site,
}) => {
  const ada = await createUser(root, 'ada');
  const api = await signedIn(site, ada);
  const small = await newKey(api, 'Small');
  const large = await newKey(api, 'Large');
  const gateway = await asGateway(site, root);
  await waitPastMidnight();
  await done(gateway.POST('/api/gateway/charge', { body: { key: small.key, quota: 250_000 } }));
  await done(gateway.POST('/api/gateway/charge', { body: { key: large.key, quota: 750_000 } }));
  const page = await visit({ as: ada });
  await page.getByRole('link', { name: 'Usage' }).click();

  const ranking = page.getByRole('table', { name: 'Keys by spend' });
  const total = page.getByRole('table', { name: 'Usage by day' }).getByRole('row', { name: 'Total' });
  await visible(total.getByText('$2.00'), ranking.getByText('$1.50'));
  expect(await ranking.getByRole('link').allInnerTexts()).toEqual(['Large', 'Small']);
  await visible(ranking.getByRole('progressbar', { name: '75% of the spend' }));

  const days = page.getByRole('table', { name: 'Usage by day' }).getByRole('row');
  await page.getByRole('combobox', { name: 'Date range' }).click();
  await page.getByRole('option', { name: 'Last 90 days' }).click();
  await expect.poll(() => days.count()).toBe(92);
  expect(page.url()).toBe(`${site}/usage?range=90d`);
  expect(await violations(page.locator('main'))).toEqual([]);
  await page.setViewportSize({ width: 320, height: 700 });
  expect(await horizontalOverflow(page)).toBe(0);
  await page.setViewportSize({ width: 1280, height: 800 });

  await page.getByRole('combobox', { name: 'Date range' }).click();
  await page.getByRole('option', { name: 'Custom range' }).click();
  await page.getByLabel('From').fill('2026-01-05');
  await page.getByLabel('To', { exact: true }).fill('2026-01-09');
  await visible(page.getByText('No usage'));
  expect(page.url()).toBe(`${site}/usage?range=custom&from=2026-01-05&to=2026-01-09`);
  await page.reload();
  await expect.poll(() => days.count()).toBe(7);

  await page.goto(`/keys/${large.id}?range=month`);
  await visible(page.getByRole('row', { name: 'Total' }).getByText('$1.50'));
  await page.goto('/usage');
  const downloading = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Export CSV' }).click();
  const lines = (await readFile(await (await downloading).path(), 'utf8')).trimEnd().split('\r\n');
  expect(lines[0]).toContain('token_name');
  expect(lines).toHaveLength(3);
});
