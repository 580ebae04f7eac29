import { readFile } from 'node:fs/promises';
import { violations } from '../harness/accessibility';
import { createUser, newKey, ROOT, signedIn } from '../harness/accounts';
import { eventually } from '../harness/eventually';
import { expect, test } from '../harness/test';
import { hidden, visible } from '../harness/visibility';

test('an administrator finds the owner of a leaked key by any part of it', async ({ visit, root, site }) => {
  const carl = await createUser(root, 'carl');
  const { key, masked_key } = await newKey(await signedIn(site, carl), 'Leaked');
  const page = await visit({ as: ROOT });
  const addresses: string[] = [];
  page.on('request', (request) => addresses.push(request.url()));
  await page.goto('/admin/tokens');
  const row = page.getByRole('row', { name: 'Leaked' }).filter({ hasText: carl.username });
  const search = page.getByRole('searchbox');

  await visible(page.getByRole('table', { name: 'All keys' }));
  for (const text of [key, masked_key, key.slice(0, 10), key.slice(-6), key.slice(3, 9)]) {
    await search.fill(text);
    await visible(row);
    await eventually(() => page.getByRole('table', { name: 'All keys' }).getByRole('row').count()).toBe(2);
    await search.fill('');
  }
  await search.fill('sk-ab');
  await visible(page.getByText('Enter at least the first or last 4 characters.'));
  expect(addresses.filter((address) => address.includes(key.slice(3, 15)))).toEqual([]);
  // A link that someone wrote by hand.
  await page.goto(`/admin/tokens?keyword=${key}`);
  await eventually(() => page.url()).not.toContain(key.slice(3, 15));
  await visible(row);
  expect(await violations(page.locator('main'))).toEqual([]);
});

test('an administrator keeps a search when opening another list', async ({ visit, root, site }) => {
  const carl = await createUser(root, 'carl');
  const { key } = await newKey(await signedIn(site, carl), `Notebook of ${carl.username}`);
  const page = await visit({ as: ROOT, path: '/keys' });
  const search = page.getByRole('searchbox');
  const row = page.getByRole('row', { name: 'Notebook of' }).filter({ hasText: carl.username });
  const main = page.getByRole('main');

  await search.fill(carl.username);
  await main.getByRole('link', { name: 'Users', exact: true }).click();
  await visible(page.getByRole('heading', { name: 'Users', level: 1 }));
  await eventually(() => search.inputValue()).toBe(carl.username);
  await main.getByRole('link', { name: 'All keys', exact: true }).click();
  await visible(row);
  expect(await search.inputValue()).toBe(carl.username);

  await page.goto('/keys');
  await search.fill(key);
  await hidden(main.getByRole('link', { name: 'Users', exact: true }));
  await main.getByRole('link', { name: 'All keys', exact: true }).click();
  await visible(row);
  expect(await search.inputValue()).toBe(key);
  expect(page.url()).toBe(`${site}/admin/tokens`);
  expect(await violations(main)).toEqual([]);
  // It is not kept for the next time.
  await page.getByRole('link', { name: 'Keys', exact: true }).click();
  await visible(page.getByRole('heading', { name: 'Keys', level: 1 }));
  expect(await search.inputValue()).toBe('');
});

test('the list of all keys has filters and an order in its address', async ({ visit, root, site }) => {
  const carl = await createUser(root, 'carl');
  const api = await signedIn(site, carl);
  await newKey(api, 'Works');
  await newKey(api, 'Over', { expired_time: 1_700_000_000 });
  const page = await visit({ as: ROOT, path: `/admin/tokens?user_id=${carl.id}` });
  await visible(page.getByRole('row', { name: 'Works' }), page.getByRole('row', { name: 'Over' }));
  expect(await page.getByRole('combobox', { name: 'Owner' }).inputValue()).toBe(carl.username);
  await page.getByRole('combobox', { name: 'Status' }).click();
  await page.getByRole('option', { name: 'Expired' }).click();
  await hidden(page.getByRole('row', { name: 'Works' }));
  await page.getByRole('columnheader', { name: 'Expires' }).getByRole('button').click();
  await eventually(() => page.url()).toBe(
    `${site}/admin/tokens?user_id=${carl.id}&state=expired&sort=expires_first`,
  );
  await page.reload();
  await visible(page.getByRole('row', { name: 'Over' }));
  await hidden(page.getByRole('row', { name: 'Works' }));
});

test('the audit log names its targets, is limited to dates, and is exported as CSV', async ({
  visit,
  root,
  site,
}) => {
  const carl = await createUser(root, 'carl');
  await newKey(await signedIn(site, carl), 'Website of Carl');
  const page = await visit({ as: ROOT, path: `/admin/audit?user_id=${carl.id}&action=token.created` });
  const entry = page.getByRole('row', { name: 'Created a key' });
  await visible(entry.getByText('Key “Website of Carl”'));
  // The time is visible without a pointer.
  await visible(entry.getByText(String(new Date().getUTCFullYear())));

  const downloading = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Export CSV' }).click();
  const file = await downloading;
  const lines = (await readFile(await file.path(), 'utf8')).trimEnd().split('\r\n');
  expect(lines).toHaveLength(2);
  expect(lines[0]).toContain('subject_name');
  expect(lines[1]).toContain('Website of Carl');

  await page.getByLabel('To', { exact: true }).fill('2020-01-31');
  await visible(page.getByText('Nothing found'));
  expect(new URL(page.url()).searchParams.get('to')).toBe('2020-01-31');
  await page.getByLabel('From', { exact: true }).fill('2020-02-01');
  await eventually(() => page.getByLabel('To', { exact: true }).inputValue()).toBe('2020-02-01');
  await page.getByLabel('To', { exact: true }).fill('2099-12-31');
  await visible(entry);
});
