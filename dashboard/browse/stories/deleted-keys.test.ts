import { violations } from '../harness/accessibility';
import { createUser, done, newKey, signedIn } from '../harness/accounts';
import { eventually } from '../harness/eventually';
import { asGateway } from '../harness/gateway';
import { horizontalOverflow } from '../harness/scrolling';
import { expect, test } from '../harness/test';
import { hidden, visible } from '../harness/visibility';

const UNITS = 500_000;

/** The narrowest screen, and one as high as a small phone. */
const SMALL = { width: 320, height: 568 };

test('keys that were just deleted come back with one click', async ({ visit, root, site }) => {
  const ada = await createUser(root, 'ada');
  const api = await signedIn(site, ada);
  const { id, key } = await newKey(api, 'Website');
  await newKey(api, 'Translation');
  await newKey(api, 'Notebook');
  const gateway = await asGateway(site, root);
  const charge = () => gateway.POST('/api/gateway/charge', { body: { key, quota: UNITS } });
  const page = await visit({ as: ada, path: '/keys' });
  const link = (name: string) => page.getByRole('link', { name });

  await page.getByRole('checkbox', { name: 'Select Website' }).check();
  await page.getByRole('checkbox', { name: 'Select Translation' }).check();
  await page.getByRole('region', { name: 'Selected keys' }).getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete 2 keys' }).click();
  await visible(page.getByText('Deleted 2 keys.'));
  await hidden(link('Website'), link('Translation'));
  expect((await charge()).response.status).toBe(401);
  await page.getByRole('button', { name: 'Undo' }).click();
  await visible(page.getByText('Restored 2 keys.'), link('Website'), link('Translation'), link('Notebook'));
  await done(charge());

  await page.goto(`/keys/${id}`);
  await page.getByRole('button', { name: 'Actions for Website' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete key' }).click();
  await visible(page.getByRole('heading', { name: 'Keys', exact: true }), link('Notebook'));
  await hidden(link('Website'));
  await page.getByRole('button', { name: 'Undo' }).click();
  await visible(page.getByText('Restored 1 key.'), link('Website'));
});

test('a key that was deleted earlier is found among the deleted keys and restored', async ({
  visit,
  root,
  site,
}) => {
  const eva = await createUser(root, 'eva', { max_tokens: 1 });
  const api = await signedIn(site, eva);
  const page = await visit({ as: eva, path: '/keys', expected: [/^409 POST \/api\/token\/\d+\/restore$/] });
  await page.getByRole('link', { name: 'Deleted keys' }).click();
  await visible(page.getByText('No deleted keys'));
  expect(await violations(page.locator('main'))).toEqual([]);

  const { id, key } = await newKey(api, 'Crawler');
  const path = { id };
  await done(api.DELETE('/api/token/{id}', { params: { path } }));
  const other = await newKey(api, 'Website');
  await page.reload();
  const row = page.getByRole('table', { name: 'Deleted keys' }).getByRole('row', { name: 'Crawler' });
  await visible(row.getByText(/^sk-.*\*/), row.getByText('just now'), row.getByText(/^in (30|29) d/));
  expect(await violations(page.locator('main'))).toEqual([]);

  await row.getByRole('button', { name: 'Restore Crawler' }).click();
  await visible(page.getByText(/^You have reached your limit of keys\./), row);
  await done(api.DELETE('/api/token/{id}', { params: { path: { id: other.id } } }));
  await row.getByRole('button', { name: 'Restore Crawler' }).click();
  const restored = page.getByRole('alert', { name: 'Restored “Crawler”' });
  await visible(restored.getByText(/If the key leaked, replace it now\./));
  await hidden(row);
  await eventually(() => restored.evaluate((element) => element === document.activeElement)).toBe(true);
  expect(await violations(page.locator('main'))).toEqual([]);
  await page.setViewportSize(SMALL);
  await visible(page.getByRole('list', { name: 'Deleted keys' }).getByText('Website'));
  await eventually(() => horizontalOverflow(page)).toBe(0);

  await restored.getByRole('link', { name: 'Show this key' }).click();
  await visible(page.getByRole('heading', { name: 'Crawler' }));
  expect((await done(api.POST('/api/token/{id}/key', { params: { path } }))).key).toBe(key);
});

test('who saves a key that somebody else changed meanwhile sees both, and chooses', async ({
  visit,
  root,
  site,
}) => {
  const hal = await createUser(root, 'hal');
  const api = await signedIn(site, hal);
  const { id } = await newKey(api, 'Website', { note: 'Owner: web team' });
  const change = (body: object) => done(api.PUT('/api/token/', { body: { id, ...body } }));
  const read = () => done(api.GET('/api/token/{id}/details', { params: { path: { id } } }));
  const page = await visit({ as: hal, path: `/keys/${id}`, expected: [/^412 PUT \/api\/token\/$/] });
  const form = page.getByRole('dialog', { name: 'Edit “Website”' });
  const note = form.getByLabel('Note');
  const conflict = page.getByRole('dialog', { name: 'Someone changed this key' });
  const row = (name: string) => conflict.getByRole('listitem').filter({ hasText: name });
  const save = form.getByRole('button', { name: 'Save changes' });

  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  await visible(form);
  await change({ note: 'Owner: data team', expired_time: 2_000_000_000 });
  await note.fill('Owner: Hal');
  await form.getByLabel('Amount (USD)').fill('2');
  await save.click();
  await visible(
    row('Note').getByText('Owner: data team'),
    row('Note').getByText('Owner: Hal'),
    row('Quota').getByText('$10.00 left'),
    row('Quota').getByText('$12.00 left'),
    row('Expires').getByText('You didn’t change this. Theirs stays.'),
  );
  expect(await violations(conflict)).toEqual([]);
  await page.keyboard.press('Escape');
  await hidden(conflict);
  expect(await note.inputValue()).toBe('Owner: Hal');

  await save.click();
  await conflict.getByRole('button', { name: 'Save mine' }).click();
  await hidden(conflict, form);
  expect(await read()).toMatchObject({
    note: 'Owner: Hal',
    expired_time: 2_000_000_000,
    remain_quota: 12 * UNITS,
  });

  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  await note.fill('Owner: nobody');
  await change({ note: 'Owner: support' });
  await save.click();
  await conflict.getByRole('button', { name: 'Keep theirs' }).click();
  await hidden(conflict);
  await eventually(() => note.inputValue()).toBe('Owner: support');
  await form.getByLabel('Name').fill('Support');
  await save.click();
  await hidden(form);
  expect(await read()).toMatchObject({ name: 'Support', note: 'Owner: support' });
});

test('several keys get quota, are disabled and enabled together, all or none', async ({
  visit,
  root,
  site,
}) => {
  const ivy = await createUser(root, 'ivy');
  const api = await signedIn(site, ivy);
  for (const name of ['Website', 'Notebook']) await newKey(api, name);
  await newKey(api, 'Free', { unlimited_quota: true });
  const page = await visit({
    as: ivy,
    path: '/keys',
    expected: [/^409 PATCH \/api\/token\/bulk$/],
  });
  const bar = page.getByRole('region', { name: 'Selected keys' });
  const all = page.getByRole('checkbox', { name: 'Select all keys on this page' });
  const dialog = page.getByRole('dialog', { name: 'Add quota to 2 keys' });
  const tokens = async () => (await done(api.GET('/api/token/', { params: { query: {} } }))).items;
  const named = async (name: string) => (await tokens()).find((token) => token.name === name);
  const patches: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'PATCH') patches.push(new URL(request.url()).pathname);
  });

  await all.check();
  await bar.getByRole('button', { name: 'Add quota' }).click();
  await visible(dialog.getByText('1 key without a quota in total stays as before.'));
  await dialog.getByRole('button', { name: 'Add quota' }).click();
  const amount = dialog.getByLabel('Dollars for each key');
  expect(await amount.getAttribute('aria-invalid')).toBe('true');
  await amount.fill('2.50');
  expect(await violations(dialog)).toEqual([]);
  await dialog.getByRole('button', { name: 'Add quota' }).click();
  await visible(page.getByText('Added $2.50 to each of 2 keys.'));
  await hidden(dialog, bar);
  expect((await named('Website'))?.remain_quota).toBe(12.5 * UNITS);
  expect((await named('Free'))?.unlimited_quota).toBe(true);

  const free = page.getByRole('switch', { name: 'Allow requests with Free' });
  await free.click();
  await visible(page.getByText(/^Disabled “Free”\./));
  await all.check();
  await bar.getByRole('button', { name: 'Disable' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Disable 3 keys' }).click();
  const toast = page.getByRole('alert').filter({ hasText: 'Disabled 3 keys.' });
  await toast.getByRole('button', { name: 'Undo' }).click();
  await visible(page.getByText('Enabled 2 keys again.'));
  expect((await tokens()).map(({ name, status }) => [name, status])).toEqual([
    ['Free', 2],
    ['Notebook', 1],
    ['Website', 1],
  ]);

  const website = await named('Website');
  const past = { id: website?.id ?? 0, expired_time: 1_700_000_000 };
  await done(api.PUT('/api/token/', { body: past }));
  const disabled = { id: past.id, status: 2 };
  await done(api.PUT('/api/token/', { params: { query: { status_only: '1' } }, body: disabled }));
  await page.reload();
  await all.check();
  await bar.getByRole('button', { name: 'Enable' }).click();
  await visible(page.getByText(/^Nothing was changed, because of “Website”: /), bar);
  expect((await named('Free'))?.status).toBe(2);
  await page.getByRole('checkbox', { name: 'Select Website' }).uncheck();
  await bar.getByRole('button', { name: 'Enable' }).click();
  await visible(page.getByText('Enabled 1 key.'));
  await hidden(bar);
  expect((await named('Free'))?.status).toBe(1);
  expect(patches).toEqual(['/api/token/bulk', '/api/token/bulk', '/api/token/bulk', '/api/token/bulk']);
});
