import type { Page } from '@playwright/test';
import { violations } from '../harness/accessibility';
import { createUser, done, newKey, signedIn } from '../harness/accounts';
import { isUncovered } from '../harness/covering';
import { eventually } from '../harness/eventually';
import { tabTo } from '../harness/keyboard';
import { expect, test } from '../harness/test';
import { hidden, visible } from '../harness/visibility';

const keysOf = (page: Page) => page.getByRole('table', { name: 'Your keys' });

test('a reload does not open the form for a new key again', async ({ visit, root, site }) => {
  const ada = await createUser(root, 'ada');
  const page = await visit({ as: ada, path: '/keys?create' });
  const form = page.getByRole('dialog', { name: 'Create a key' });
  await visible(form);
  expect(page.url()).toBe(`${site}/keys`);
  await page.reload();
  await visible(page.getByText('No keys yet'));
  await hidden(form);
});

test('pages of the list are steps of the history, and begin at the top', async ({ visit, root, site }) => {
  const ada = await createUser(root, 'ada');
  const api = await signedIn(site, ada);
  for (let key = 1; key <= 51; key += 1) await newKey(api, `Key ${key}`);
  const page = await visit({ as: ada, path: '/keys' });
  const next = page.getByRole('button', { name: 'Next page' });
  const first = page.getByRole('link', { name: 'Key 51', exact: true });
  await visible(first);

  await next.scrollIntoViewIfNeeded();
  await next.click();
  await visible(page.getByRole('link', { name: 'Key 26', exact: true }));
  await eventually(() => page.evaluate(() => window.scrollY)).toBe(0);
  await next.click();
  await visible(page.getByRole('link', { name: 'Key 1', exact: true }));
  await page.goBack();
  await visible(page.getByRole('link', { name: 'Key 26', exact: true }));
  expect(page.url()).toBe(`${site}/keys?page=2`);
  await page.goBack();
  await visible(first);
});

test('the number of keys on a page is chosen, and remembered', async ({ visit, root, site }) => {
  const ada = await createUser(root, 'ada', { max_tokens: 200 });
  const api = await signedIn(site, ada);
  await Promise.all(Array.from({ length: 60 }, (_, key) => newKey(api, `Key ${key}`)));
  const page = await visit({ as: ada, path: '/keys?page=3' });
  await visible(page.getByText('51–60 of 60'));
  await page.getByRole('combobox', { name: 'Rows per page' }).click();
  await page.getByRole('option', { name: '50 per page' }).click();
  await visible(page.getByText('51–60 of 60'));
  expect(page.url()).toBe(`${site}/keys?page=2`);
  await page.goto('/keys');
  await visible(page.getByText('1–50 of 60'));
  await page.getByRole('combobox', { name: 'Rows per page' }).click();
  await page.getByRole('option', { name: '100 per page' }).click();
  await visible(page.getByText('1–60 of 60'));
  await hidden(page.getByRole('navigation', { name: 'Pages' }));
  expect(await keysOf(page).getByRole('row').count()).toBe(61);
});

test('where keys can have several groups, the list shows those of one', async ({ visit, root, site }) => {
  const ada = await createUser(root, 'ada');
  const api = await signedIn(site, ada);
  await newKey(api, 'Mine', { group: '' });
  await newKey(api, 'Any', { group: 'auto' });
  const page = await visit({ as: ada, path: '/keys' });
  const mine = page.getByRole('link', { name: 'Mine' });
  const any = page.getByRole('link', { name: 'Any' });
  const group = page.getByRole('combobox', { name: 'Group' });
  await visible(mine, any);
  await hidden(group);

  const groups = { default: { desc: '', ratio: 1 }, batch: { desc: '', ratio: 0.5 } };
  await page.route('**/api/user/self/groups', (route) =>
    route.fulfill({ json: { success: true, message: '', data: groups } }),
  );
  await page.reload();
  await group.click();
  await page.getByRole('option', { name: 'Automatic' }).click();
  await hidden(mine);
  await visible(any);
  expect(page.url()).toBe(`${site}/keys?group=auto`);
  await group.click();
  await page.getByRole('option', { name: 'Your group' }).click();
  await hidden(any);
  await visible(mine);
});

test('keys stay selected on other pages, and Shift selects a range', async ({ visit, root, site }) => {
  const ada = await createUser(root, 'ada');
  const api = await signedIn(site, ada);
  for (let key = 1; key <= 28; key += 1) await newKey(api, `Key ${key}`);
  const page = await visit({ as: ada, path: '/keys' });
  const box = (key: number) => page.getByRole('checkbox', { name: `Select Key ${key}`, exact: true });
  const bar = page.getByRole('region', { name: 'Selected keys' });

  await box(28).click();
  await box(25).click({ modifiers: ['Shift'] });
  await visible(bar.getByText('4 selected'));
  await page.getByRole('button', { name: 'Next page' }).click();
  await box(2).click();
  await visible(bar.getByText('5 selected · 4 not on this page'));

  await bar.getByRole('button', { name: 'Disable' }).click();
  const question = page.getByRole('dialog', { name: 'Disable 5 keys?' });
  await visible(question.getByText('Key 28'));
  await question.getByRole('button', { name: 'Cancel' }).click();
  const enabled = async () => {
    const { items } = await done(api.GET('/api/token/', { params: { query: { size: '100' } } }));
    return items.filter(({ status }) => status === 1).length;
  };
  expect(await enabled()).toBe(28);

  await bar.getByRole('button', { name: 'Disable' }).click();
  await question.getByRole('button', { name: 'Disable 5 keys' }).click();
  await visible(page.getByText('Disabled 5 keys.'));
  await hidden(bar, question);
  expect(await enabled()).toBe(23);

  await page.goBack();
  await box(27).click();
  await page.getByRole('button', { name: 'Next page' }).click();
  await box(1).click();
  await bar.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete 2 keys' }).click();
  await hidden(bar, page.getByRole('link', { name: 'Key 1', exact: true }));
});

test('a click beside the controls of a row opens the page of its key', async ({ visit, root, site }) => {
  const ada = await createUser(root, 'ada');
  const { id } = await newKey(await signedIn(site, ada), 'Website');
  const page = await visit({ as: ada, path: '/keys' });
  const row = page.getByRole('row', { name: 'Website' });
  await row.getByRole('button', { name: 'Actions for Website' }).click();
  await page.getByRole('menuitem', { name: 'Disable' }).click();
  await visible(row.getByText('Disabled'));
  expect(page.url()).toBe(`${site}/keys`);
  await row.getByText('Disabled').click();
  await visible(page.getByRole('heading', { name: 'Website' }));
  expect(page.url()).toBe(`${site}/keys/${id}`);
});

test('a masked key finds its key', async ({ visit, root, site }) => {
  const ada = await createUser(root, 'ada');
  const api = await signedIn(site, ada);
  const { masked_key } = await newKey(api, 'Website');
  await newKey(api, 'Notebook');
  const page = await visit({ as: ada, path: '/keys' });
  await visible(page.getByRole('link', { name: 'Notebook' }));
  await page.getByRole('searchbox', { name: 'Search by name or key' }).fill(masked_key);
  await hidden(page.getByRole('link', { name: 'Notebook' }));
  await visible(page.getByRole('link', { name: 'Website' }));
});

test('a key that was disabled by mistake is enabled again from the notification, or with Ctrl Z', async ({
  visit,
  root,
  site,
}) => {
  const ada = await createUser(root, 'ada');
  await newKey(await signedIn(site, ada), 'Website');
  const page = await visit({ as: ada, path: '/keys' });
  const isOn = page.getByRole('switch', { name: 'Allow requests with Website' });
  const toast = page.getByRole('alert').filter({ hasText: 'Disabled “Website”.' });
  const undo = toast.getByRole('button', { name: 'Undo' });

  await isOn.press('Space');
  await visible(toast);
  expect(await violations(toast)).toEqual([]);
  await tabTo(page, undo);
  await page.keyboard.press('Enter');
  await hidden(toast);
  await visible(page.getByText('Enabled 1 key again.'));
  await eventually(() => isOn.isChecked()).toBe(true);

  await isOn.press('Space');
  await visible(toast);
  await page.keyboard.press('Control+z');
  await hidden(toast);
  await eventually(() => isOn.isChecked()).toBe(true);
  expect(await isOn.evaluate((element) => element === document.activeElement)).toBe(true);
});

test('the switch of an expired key does not look like that of a key that works', async ({
  visit,
  root,
  site,
}) => {
  const ada = await createUser(root, 'ada');
  const api = await signedIn(site, ada);
  await newKey(api, 'Works');
  await newKey(api, 'Over', { expired_time: 1_700_000_000 });
  const page = await visit({ as: ada, path: '/keys' });
  const colorOf = (name: string) =>
    keysOf(page)
      .getByRole('switch', { name: `Allow requests with ${name}` })
      .evaluate((input) => {
        const track = input.parentElement?.querySelector('.mantine-Switch-track');
        if (!track) throw new Error('the switch has no track');
        return getComputedStyle(track).backgroundColor;
      });
  await visible(page.getByRole('row', { name: 'Over' }).getByText('Expired'));
  expect(await colorOf('Over')).not.toBe(await colorOf('Works'));
  const isOn = keysOf(page).getByRole('switch', { name: 'Allow requests with Over' });
  expect([await isOn.isChecked(), await isOn.isDisabled()]).toEqual([false, true]);
});

test('on a phone, notifications cover neither the bar of selected keys nor the buttons of a form', async ({
  visit,
  root,
  site,
}) => {
  const ada = await createUser(root, 'ada');
  const api = await signedIn(site, ada);
  for (const name of ['Website', 'Notebook', 'Translation']) await newKey(api, name);
  const page = await visit({ as: ada, phone: true, path: '/keys' });
  await page.getByRole('button', { name: 'Actions for Website' }).tap();
  await page.getByRole('menuitem', { name: 'Copy key' }).tap();
  const toast = page.getByText('Copied the key “Website”');
  await visible(toast);

  await page.getByRole('checkbox', { name: 'Select Notebook' }).tap();
  const bar = page.getByRole('region', { name: 'Selected keys' });
  for (const name of ['Enable', 'Disable', 'Delete', 'Clear selection']) {
    expect(await isUncovered(bar.getByRole('button', { name })), name).toBe(true);
  }
  await page.getByRole('button', { name: 'Actions for Website' }).tap();
  await page.getByRole('menuitem', { name: 'Edit' }).tap();
  const form = page.getByRole('dialog', { name: 'Edit “Website”' });
  await visible(form);
  for (const name of ['Cancel', 'Save changes']) {
    const button = form.getByRole('button', { name });
    await button.scrollIntoViewIfNeeded();
    expect(await isUncovered(button), name).toBe(true);
  }
  await visible(toast);
});

test('with more than 100 keys, the server filters, sorts and searches', async ({ visit, root, site }) => {
  const ada = await createUser(root, 'ada', { max_tokens: 200 });
  const api = await signedIn(site, ada);
  await newKey(api, 'Key 1');
  const numbers = Array.from({ length: 102 }, (_, index) => String(index + 1).padStart(3, '0'));
  await Promise.all(numbers.map((number) => newKey(api, `Key ${number}`)));
  const { id, key } = await newKey(api, 'Alpha');
  await done(api.PUT('/api/token/', { params: { query: { status_only: '1' } }, body: { id, status: 2 } }));
  const page = await visit({ as: ada });
  const requests: string[] = [];
  page.on('request', (request) => requests.push(`${request.method()} ${new URL(request.url()).pathname}`));
  const alpha = page.getByRole('link', { name: 'Alpha', exact: true });
  const rows = keysOf(page).getByRole('row');

  await visible(page.getByText('Disabled').first());
  await page.getByRole('link', { name: /^Disabled/ }).click();
  await visible(alpha);
  await eventually(() => rows.count()).toBe(2);
  expect(page.url()).toBe(`${site}/keys?state=disabled`);
  await page.reload();
  await visible(alpha);
  await eventually(() => rows.count()).toBe(2);

  await page.getByRole('combobox', { name: 'Status' }).click();
  await page.getByRole('option', { name: 'All statuses' }).click();
  await visible(page.getByText('1–25 of 104'));
  await hidden(page.getByRole('combobox', { name: 'Order' }));
  const byName = page.getByRole('columnheader', { name: 'Name' });
  await byName.getByRole('button').click();
  await eventually(() => page.url()).toBe(`${site}/keys?sort=name`);
  await eventually(() => rows.nth(1).getByRole('link').innerText()).toBe('Alpha');
  expect(await byName.getAttribute('aria-sort')).toBe('ascending');
  await byName.getByRole('button').click();
  await eventually(() => rows.nth(1).getByRole('link').innerText()).toBe('Key 102');
  expect(await byName.getAttribute('aria-sort')).toBe('descending');
  expect(await page.getByRole('columnheader', { name: 'Expires' }).getAttribute('aria-sort')).toBe('none');
  await byName.getByRole('button').click();
  await eventually(() => byName.getAttribute('aria-sort')).toBe('none');
  expect(page.url()).toBe(`${site}/keys`);

  requests.length = 0;
  const search = page.getByRole('searchbox', { name: 'Search by name or key' });
  for (const text of ['Ke', 'Key', 'Key 0']) {
    const found = page.waitForResponse((response) => response.url().endsWith('/api/token/search'));
    await search.pressSequentially(text.slice((await search.inputValue()).length));
    await found;
  }
  await search.press('9');
  await eventually(() => rows.count()).toBe(11);
  await search.press('9');
  await eventually(() => rows.count()).toBe(2);
  // Typing on after a search that found few keys sends no other.
  const searches = requests.filter((request) => request === 'POST /api/token/search').length;
  expect(searches).toBe(3);

  requests.length = 0;
  await page.goto(`/keys/${id}`);
  await visible(page.getByRole('heading', { name: 'Alpha' }));
  expect(requests).toContain(`GET /api/token/${id}/details`);
  expect(requests).not.toContain('GET /api/token/');

  await page.goto('/keys');
  await search.fill('key 1');
  await eventually(() => rows.nth(1).getByRole('link').innerText()).toBe('Key 1');
  await search.fill(key.slice(-4));
  await eventually(() => rows.nth(1).getByRole('link').innerText()).toBe('Alpha');
});

test('a pasted key is found, and is never in an address', async ({ visit, root, site }) => {
  const ada = await createUser(root, 'ada');
  const api = await signedIn(site, ada);
  const { key } = await newKey(api, 'Leaked');
  await newKey(api, 'Other');
  const page = await visit({ as: ada });
  const addresses: string[] = [];
  page.on('request', (request) => addresses.push(request.url()));
  page.on('framenavigated', (frame) => addresses.push(frame.url()));
  await page.goto('/keys');
  await visible(page.getByRole('link', { name: 'Other' }));
  const search = page.getByRole('searchbox', { name: 'Search by name or key' });
  for (const text of [key, key.slice(0, 30), key.replace('sk-', '')]) {
    await search.fill(text);
    await hidden(page.getByRole('link', { name: 'Other' }));
    await visible(page.getByRole('link', { name: 'Leaked' }));
    expect(page.url()).toBe(`${site}/keys`);
    await search.fill('');
    await visible(page.getByRole('link', { name: 'Other' }));
  }
  expect(addresses.filter((address) => address.includes(key.slice(3, 15)))).toEqual([]);
  // A link from an older version.
  await page.goto(`/keys?q=${key}`);
  await eventually(() => page.url()).toBe(`${site}/keys`);
});
