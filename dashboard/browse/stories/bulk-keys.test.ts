import { readFile } from 'node:fs/promises';
import type { Page } from '@playwright/test';
import { violations } from '../harness/accessibility';
import { type Api, createUser, done, newKey, signedIn } from '../harness/accounts';
import { eventually } from '../harness/eventually';
import { asGateway } from '../harness/gateway';
import { expect, test } from '../harness/test';
import { hidden, visible } from '../harness/visibility';

const MANY_MS = 60_000;
const ADMINISTRATOR = 10;
const PAGE = 'Select all keys on this page';

const barOf = (page: Page) => page.getByRole('region', { name: 'Selected keys' });
const press = (page: Page, name: string) => barOf(page).getByRole('button', { name, exact: true }).click();

/** Creates this many keys in calls of at most 100. */
async function createKeys(api: Api, name: string, count: number) {
  const tokens = Array.from({ length: count }, (_, at) => ({
    name: `${name} ${at + 1}`,
    remain_quota: 500_000,
  }));
  for (let at = 0; at < count; at += 100)
    await done(api.POST('/api/token/bulk', { body: { tokens: tokens.slice(at, at + 100) } }));
}

/** The limits per day of all keys of the owner. */
async function dayLimits(api: Api): Promise<number[]> {
  const pages = ['1', '2'].map((p) =>
    done(api.GET('/api/token/', { params: { query: { p, page_size: '100' } } })),
  );
  const found = (await Promise.all(pages)).flatMap(({ items }) => items);
  return found.map(({ period_limits }) => period_limits.day);
}

/** The file that a click saves. */
async function saved(page: Page, click: () => Promise<void>) {
  const [download] = await Promise.all([page.waitForEvent('download'), click()]);
  return { name: download.suggestedFilename(), text: await readFile(await download.path(), 'utf8') };
}

test('all keys of more than a page are limited at once, and the list says so', async ({
  visit,
  root,
  site,
}) => {
  test.setTimeout(MANY_MS);
  const ada = await createUser(root, 'ada', { max_tokens: 200 });
  const api = await signedIn(site, ada);
  await createKeys(api, 'Key', 120);
  const page = await visit({ as: ada, path: '/keys' });
  const bar = barOf(page);

  await page.getByRole('checkbox', { name: PAGE }).check();
  await visible(bar.getByText('25 selected'));
  await press(page, 'Select all 120');
  await visible(bar.getByText('All 120 selected'));
  await hidden(bar.getByRole('button', { name: 'Delete' }), bar.getByRole('button', { name: 'Replace' }));
  expect(await violations(bar)).toEqual([]);
  await page.getByRole('button', { name: 'Next page' }).click();
  await visible(page.getByRole('link', { name: 'Key 90', exact: true }), bar.getByText('All 120 selected'));
  await eventually(() => page.getByRole('checkbox', { name: 'Select Key 90', exact: true }).isChecked()).toBe(
    true,
  );

  await press(page, 'Change');
  const dialog = page.getByRole('dialog', { name: 'Change 120 keys' });
  await dialog.getByRole('button', { name: 'Change 120 keys' }).click();
  await visible(dialog.getByText('Enter a limit, or remove one.'));
  await dialog.getByLabel('Dollars per day').fill('5');
  expect(await violations(dialog)).toEqual([]);
  await dialog.getByRole('button', { name: 'Change 120 keys' }).click();
  await visible(page.getByText('Changed 120 keys.'));
  await hidden(dialog, bar);
  expect(new Set(await dayLimits(api))).toEqual(new Set([2_500_000]));
  await visible(page.getByRole('row', { name: 'Key 90' }).getByText('$0.00 of $5.00 today'));

  // Other filters end it.
  await page.getByRole('checkbox', { name: PAGE }).check();
  await press(page, 'Select all 120');
  await page.getByRole('searchbox', { name: 'Search by name or key' }).fill('Key 11');
  await hidden(bar, page.getByRole('link', { name: 'Key 120', exact: true }));
  await page.getByRole('checkbox', { name: PAGE }).check();
  await press(page, 'Disable');
  await visible(page.getByRole('dialog', { name: 'Disable 11 keys?' }));
});

test('a change waits for the limit on written rows and goes on, or stops', async ({ visit, root, site }) => {
  const ada = await createUser(root, 'ada');
  const api = await signedIn(site, ada);
  await createKeys(api, 'Key', 30);
  const page = await visit({ as: ada, path: '/keys', expected: [/^429 PATCH \/api\/token\/bulk/] });
  const keys: (string | undefined)[] = [];
  let seconds = 60;
  await page.route('**/api/token/bulk', (route) => {
    keys.push(route.request().headers()['idempotency-key']);
    if (seconds === 0) return route.continue();
    const json = { success: false, message: 'too many rows', error: 'rate_limited', retry_after: seconds };
    const answer = route.fulfill({ status: 429, headers: { 'Retry-After': String(seconds) }, json });
    seconds = seconds === 60 ? 2 : 0;
    return answer;
  });
  await page.getByRole('checkbox', { name: PAGE }).check();
  await press(page, 'Select all 30');
  await press(page, 'Change');
  const dialog = page.getByRole('dialog', { name: 'Change 30 keys' });
  const change = dialog.getByRole('button', { name: 'Change 30 keys' });
  await dialog.getByLabel('Dollars per day').fill('5');

  await change.click();
  await visible(dialog.getByText('0 of 30 keys changed so far.'), dialog.getByText(/Going on in \d+ s\./));
  expect(await violations(dialog)).toEqual([]);
  await dialog.getByRole('button', { name: 'Stop' }).click();
  await visible(change);
  expect(new Set(await dayLimits(api))).toEqual(new Set([-1]));

  await dialog.getByLabel('Dollars per day').fill('6');
  await change.click();
  await visible(dialog.getByText(/Going on in [12] s\./));
  await visible(page.getByText('Changed 30 keys.'));
  expect(new Set(await dayLimits(api))).toEqual(new Set([3_000_000]));
  expect(keys[1]).toBe(keys[2]);
});

test('the file of exported keys has their names and no secret', async ({ visit, root, site }) => {
  const ada = await createUser(root, 'ada');
  const api = await signedIn(site, ada);
  const web = await newKey(api, 'Website');
  const other = await newKey(api, 'Notebook');
  const page = await visit({ as: ada, path: '/keys' });

  await page.getByRole('checkbox', { name: 'Select Website' }).check();
  const one = await saved(page, () => press(page, 'Export CSV'));
  expect(one.name).toBe('keys.csv');
  expect(one.text).toContain('Website');
  expect(one.text).toContain(web.masked_key);
  expect(one.text).not.toContain('Notebook');
  await page.getByRole('checkbox', { name: PAGE }).check();
  const both = await saved(page, () => press(page, 'Export CSV'));
  expect(both.text.trimEnd().split('\r\n').length).toBe(3);
  for (const { key } of [web, other]) expect(both.text).not.toContain(key?.slice(10));
});

test('two keys are replaced, and their file has the keys that work', async ({ visit, root, site }) => {
  const ada = await createUser(root, 'ada');
  const api = await signedIn(site, ada);
  const olds = [await newKey(api, 'Website'), await newKey(api, 'Notebook, "old"')];
  const gateway = await asGateway(site, root);
  const page = await visit({ as: ada, path: '/keys' });

  await page.getByRole('checkbox', { name: PAGE }).check();
  await press(page, 'Replace');
  const question = page.getByRole('dialog', { name: 'Replace 2 keys' });
  await visible(question.getByText('Website'));
  expect(await violations(question)).toEqual([]);
  await question.getByRole('button', { name: 'Replace keys' }).click();
  const offer = page.getByRole('dialog', { name: 'Your new keys' });
  await visible(offer.getByText(/offered only once/));
  expect(await violations(offer)).toEqual([]);
  await page.keyboard.press('Escape');
  await offer.getByRole('button', { name: 'Done' }).click();
  await visible(offer.getByText('The new keys are shown only once, and the file isn’t saved.'));
  expect(await violations(offer)).toEqual([]);

  const { name, text } = await saved(page, () =>
    offer.getByRole('button', { name: 'Save the file' }).click(),
  );
  expect(name).toBe('new-keys.csv');
  const [header, ...lines] = text.replace('\ufeff', '').trimEnd().split('\r\n');
  expect(header).toBe('name,key');
  const news = lines.map((line) => /^(Website|"Notebook, ""old"""),(sk-\w{48})$/.exec(line)?.[2]);
  expect(news.length).toBe(2);
  await offer.getByRole('button', { name: 'Done' }).click();
  await hidden(offer, barOf(page));
  for (const secret of news) expect(await page.content()).not.toContain(secret ?? 'none');
  for (const key of [...news, ...olds.map((old) => old.key)])
    await done(gateway.POST('/api/gateway/charge', { body: { key: key ?? '', quota: 1, ip: '192.0.2.7' } }));
});

test('more than a hundred keys are not replaced at once, and the button says why', async ({
  visit,
  root,
  site,
}) => {
  const ada = await createUser(root, 'ada', { max_tokens: 200 });
  await createKeys(await signedIn(site, ada), 'Key', 101);
  const page = await visit({ as: ada, path: '/keys' });
  await page.getByRole('combobox', { name: 'Rows per page' }).click();
  await page.getByRole('option', { name: '100' }).click();
  await page.getByRole('checkbox', { name: PAGE }).check();
  await page.getByRole('button', { name: 'Next page' }).click();
  await page.getByRole('checkbox', { name: PAGE }).check();
  const replace = barOf(page).getByRole('button', { name: 'Replace' });
  await replace.hover();
  await visible(page.getByText('At most 100 keys can be replaced at once.'));
  await replace.click({ force: true });
  await hidden(page.getByRole('dialog'));
});

test('an administrator changes keys of two owners, and sees whose were refused and why', async ({
  visit,
  root,
  site,
}) => {
  const name = `shared${process.pid}`;
  const admin = await createUser(root, 'admin', { role: ADMINISTRATOR });
  const ana = await createUser(root, 'ana');
  const api = await signedIn(site, ana);
  const { id } = await newKey(api, `${name} of ana`);
  // Not of root: other stories need that it has none.
  const boss = await createUser(root, 'boss', { role: ADMINISTRATOR });
  await newKey(await signedIn(site, boss), `${name} of boss`);
  const page = await visit({ as: admin, path: `/admin/tokens?keyword=${name}` });
  const bar = barOf(page);

  await page.getByRole('checkbox', { name: PAGE }).check();
  await visible(bar.getByText('2 selected'));
  expect(await violations(page.locator('main'))).toEqual([]);
  await press(page, 'Change');
  const dialog = page.getByRole('dialog', { name: 'Change 2 keys' });
  await dialog.getByRole('radio', { name: 'Expiry' }).check();
  await dialog.getByRole('combobox', { name: 'Expires' }).click();
  await page.getByRole('option', { name: 'In 7 days' }).click();
  expect(await violations(dialog)).toEqual([]);
  await dialog.getByRole('button', { name: 'Change 2 keys' }).click();
  await visible(
    dialog.getByText('Changed 1 key.'),
    dialog.getByText('Nothing was changed for this owner:'),
    dialog.getByText(`${boss.username}: You can only do this to people with a lower role than yours.`),
  );
  expect(await violations(dialog)).toEqual([]);
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  await hidden(dialog, bar);
  const changed = await done(api.GET('/api/token/{id}/details', { params: { path: { id } } }));
  expect(changed.expired_time).toBeGreaterThan(0);

  await page.getByRole('checkbox', { name: PAGE }).check();
  const { text } = await saved(page, () => press(page, 'Export CSV'));
  expect(text).toContain(ana.username);
  await press(page, 'Disable');
  const question = page.getByRole('dialog', { name: 'Disable 2 keys?' });
  await question.getByRole('button', { name: 'Disable 2 keys' }).click();
  await visible(page.getByText('Changed 2 keys.'));
});

test('an administrator changes all keys that a filter matches', async ({ visit, root, site }) => {
  const name = `crowd${process.pid}`;
  const admin = await createUser(root, 'admin', { role: ADMINISTRATOR });
  const owners = [await createUser(root, 'ana'), await createUser(root, 'ben')];
  const apis = await Promise.all(owners.map((owner) => signedIn(site, owner)));
  for (const api of apis) {
    await createKeys(api, name, 15);
    await newKey(api, `${name} of another group`, { group: 'auto', remain_quota: 0 });
  }
  const page = await visit({ as: admin, path: `/admin/tokens?keyword=${name}&group=own` });
  const bar = barOf(page);
  await page.getByRole('checkbox', { name: PAGE }).check();
  await visible(bar.getByRole('button', { name: 'Select all 30' }));

  // How many the next filters match is not known before the answer.
  let answer: () => void = () => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route('**/api/admin/tokens?*', async (route) => {
    await answered;
    await route.continue();
  });
  const search = page.getByRole('searchbox', { name: 'Search by name or key' });
  await search.clear();
  await hidden(bar.getByRole('button', { name: /^Select all/ }));
  await visible(bar.getByText('20 selected'));
  answer();
  await search.fill(name);
  await press(page, 'Select all 30');
  await press(page, 'Add quota');
  const dialog = page.getByRole('dialog', { name: 'Add quota to 30 keys' });
  await dialog.getByLabel('Dollars for each key').fill('1');
  await dialog.getByRole('button', { name: 'Add to 30 keys' }).click();
  await visible(page.getByText('Changed 30 keys.'));
  for (const api of apis) {
    const { items } = await done(api.GET('/api/token/', { params: { query: { page_size: '100' } } }));
    const quotas = (group: string) =>
      items.filter((token) => token.group === group).map(({ remain_quota }) => remain_quota);
    expect(new Set(quotas(''))).toEqual(new Set([1_000_000]));
    expect(quotas('auto')).toEqual([0]);
  }
});
