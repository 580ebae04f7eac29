import type { Locator, Page } from '@playwright/test';
import { violations } from '../harness/accessibility';
import { createUser, done, newKey, ROOT, signedIn } from '../harness/accounts';
import { eventually } from '../harness/eventually';
import { expect, test } from '../harness/test';
import { hidden, visible } from '../harness/visibility';

const palette = (page: Page) => page.getByRole('dialog', { name: 'Search pages, keys and actions' });

test('the palette opens pages, keys and actions by keyboard', async ({ visit, root, site }) => {
  const kim = await createUser(root, 'kim');
  const { id } = await newKey(await signedIn(site, kim), 'Nightly evaluation');
  const page = await visit({ as: kim });
  await visible(page.getByRole('heading', { name: 'Overview' }));

  const field = await openPalette(page);
  expect(await violations(palette(page))).toEqual([]);
  await page.keyboard.type('usa');
  await eventually(() => selected(page)).toBe('Usage');
  await page.keyboard.press('Enter');
  await visible(page.getByRole('heading', { name: 'Usage', level: 1 }));
  await hidden(palette(page));
  expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('MAIN');

  await openPalette(page);
  await page.keyboard.type('EVAL');
  await visible(palette(page).getByRole('option', { name: 'Nightly evaluation' }));
  expect(await violations(palette(page))).toEqual([]);
  await page.keyboard.press('Enter');
  await eventually(() => page.url()).toBe(`${site}/keys/${id}`);

  await openPalette(page);
  await page.keyboard.type('no such thing');
  await visible(palette(page).getByText('Nothing found'));
  await page.keyboard.press('Enter');
  await visible(field);
  await field.fill('');
  await page.keyboard.press('ArrowUp');
  await eventually(() => selected(page)).toBe('Keyboard shortcuts');
  await page.keyboard.press('Enter');
  const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  await visible(help);
  await page.keyboard.press('Escape');
  await hidden(help);

  const button = page.getByRole('button', { name: 'Search', exact: true });
  await button.click();
  await visible(field);
  await page.keyboard.press('Escape');
  await hidden(field);
  await eventually(() => button.evaluate((element) => element === document.activeElement)).toBe(true);
  await page.keyboard.press('Control+k');
  await visible(field);
  await page.keyboard.press('Control+k');
  await hidden(field);
});

test('shortcuts of a single key act on the page, never in a field, and can be turned off', async ({
  visit,
  root,
}) => {
  const kim = await createUser(root, 'kim');
  const page = await visit({ as: kim });
  await visible(page.getByRole('heading', { name: 'Overview' }));

  await page.keyboard.press('c');
  const form = page.getByRole('dialog', { name: 'Create a key' });
  const name = form.getByLabel('Name');
  await visible(name);
  await name.click();
  await page.keyboard.type('c/?');
  expect(await name.inputValue()).toBe('c/?');
  await page.keyboard.press('Control+k');
  await hidden(palette(page));
  await form.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Discard' }).click();
  await hidden(form);

  await page.keyboard.press('/');
  const search = page.getByRole('searchbox', { name: 'Search by name or key' });
  await eventually(() => search.evaluate((element) => element === document.activeElement)).toBe(true);
  await page.keyboard.type('c/?');
  expect(await search.inputValue()).toBe('c/?');
  await hidden(form);
  await page.keyboard.press('Escape');
  await search.blur();

  await page.keyboard.press('?');
  const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  await visible(help);
  expect(await violations(help)).toEqual([]);
  await help.getByRole('switch', { name: 'Use shortcuts of a single key' }).click();
  await page.keyboard.press('Escape');
  await hidden(help);
  await page.keyboard.press('c');
  await page.reload();
  await visible(search);
  await page.keyboard.press('c');
  await page.keyboard.press('Control+k');
  await visible(palette(page));
  await hidden(form);
});

test('an administrator finds a user and the keys of others, and a pasted key is in no address', async ({
  visit,
  root,
  site,
}) => {
  const lou = await createUser(root, 'lou', { display_name: 'Lou Reed' });
  const { key } = await newKey(await signedIn(site, lou), 'Website');
  const page = await visit({ as: ROOT });
  const addresses: string[] = [];
  page.on('request', (request) => addresses.push(request.url()));
  await page.getByRole('button', { name: 'Search', exact: true }).click();
  await palette(page).getByRole('combobox').fill(key);
  const found = palette(page).getByRole('option', { name: 'Website' }).filter({ hasText: lou.username });
  await visible(found);
  await palette(page).getByRole('combobox').fill(key.slice(-4));
  await visible(found);
  await palette(page).getByRole('combobox').fill(lou.username);
  await palette(page).getByRole('option', { name: 'Lou Reed' }).click();
  await visible(page.getByRole('heading', { level: 1, name: lou.username }));
  expect(addresses.some((address) => address.includes(lou.username))).toBe(true);
  expect(addresses.filter((address) => address.includes(key.slice(3)))).toEqual([]);
});

test('an administrator finds models, gateways, groups and settings, and changes the look', async ({
  visit,
  root,
  site,
}) => {
  const name = `edge-${process.pid}`;
  const { id } = await done(root.POST('/api/admin/gateways', { body: { name } }));
  const page = await visit({ as: ROOT, colorScheme: 'light' });
  const open = async (group: string, text: string) => {
    await (await openPalette(page)).fill(text);
    await palette(page).getByRole('group', { name: group }).getByRole('option').click();
  };
  await visible(page.getByRole('heading', { level: 1 }));
  await open('Requests by gateway', name);
  await eventually(() => page.url()).toBe(`${site}/admin/usage/requests?gateway_id=${id}`);
  await open('Users by group', 'default');
  await eventually(() => page.url()).toBe(`${site}/admin/users?group=default`);
  await open('Settings', 'retention_days');
  await eventually(() => page.url()).toBe(`${site}/admin/settings?name=usage.retention_days`);
  const setting = page.locator('[id="usage.retention_days"]');
  await expect(setting).toBeInViewport();
  await open('Actions', 'dark');
  await expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', 'dark');
});

test('on a phone, the palette opens with an icon and closes with a button', async ({ visit, root }) => {
  const kim = await createUser(root, 'kim');
  const page = await visit({ as: kim, phone: true, locale: 'zh-CN' });
  await page.getByRole('button', { name: '搜索', exact: true }).tap();
  const dialog = page.getByRole('dialog', { name: '搜索页面、密钥和操作' });
  await visible(dialog.getByRole('option', { name: '概览' }));
  expect(await violations(dialog)).toEqual([]);
  await dialog.getByRole('button', { name: '关闭' }).tap();
  await hidden(dialog);
});

/** Opens the palette, and waits until it takes what is typed. */
async function openPalette(page: Page): Promise<Locator> {
  // A palette that is still closing would take the keys.
  await hidden(palette(page));
  await page.keyboard.press('Control+k');
  const field = palette(page).getByRole('combobox');
  await eventually(() => field.evaluate((element) => element === document.activeElement)).toBe(true);
  return field;
}

/** The label of the selected option. */
async function selected(page: Page): Promise<string> {
  return palette(page).getByRole('option', { selected: true }).innerText();
}
