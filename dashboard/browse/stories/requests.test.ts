import { readFile } from 'node:fs/promises';
import type { Locator, Page } from '@playwright/test';
import { violations } from '../harness/accessibility';
import { createUser, done, newKey, ROOT, signedIn } from '../harness/accounts';
import { eventually } from '../harness/eventually';
import { asGateway } from '../harness/gateway';
import { waitPastMidnight } from '../harness/midnight';
import { open } from '../harness/pages';
import { horizontalOverflow } from '../harness/scrolling';
import { expect, test } from '../harness/test';
import { hidden, visible } from '../harness/visibility';

const WIDTHS = [320, 390, 768, 1024, 1280, 1440];

const tableOf = (page: Page) => page.getByRole('table', { name: 'Requests' });
const detailsOf = (page: Page) => page.getByRole('dialog', { name: 'Request' });

/** Waits for a refused request, which has a row after some seconds. */
async function refusedRow(page: Page, path: string, name: string): Promise<Locator> {
  const row = tableOf(page).getByRole('row', { name });
  await eventually(async () => {
    await open(page, path);
    return row.count();
  }).toBe(1);
  return row;
}

test('a refused request says why, and refusals are shown alone', async ({ visit, root, site }) => {
  const ada = await createUser(root, 'ada');
  const crawler = await newKey(await signedIn(site, ada), 'Crawler');
  const gateway = await asGateway(site, root);
  await waitPastMidnight();
  await done(gateway.POST('/api/gateway/charge', { body: { key: crawler.key, quota: 500, model: 'o1' } }));
  await gateway.POST('/api/gateway/charge', {
    body: { key: crawler.key, quota: 9_000_000_000, model: 'gpt-5', request_id: 'too-much' },
  });
  const page = await visit({ as: ada, path: '/requests' });
  const requests = tableOf(page);
  const row = await refusedRow(page, '/requests', 'gpt-5');
  await visible(requests.getByRole('row', { name: 'o1' }));
  await page.getByRole('radiogroup', { name: 'Status' }).getByText('Refused').click();
  await eventually(() => requests.getByRole('row').count()).toBe(2);
  await visible(row.getByText(/Not enough/), page.getByText('Showing 1 of 1 refused'));

  await page.getByRole('button', { name: 'Reason', exact: true }).click();
  await page.getByRole('combobox', { name: 'Reason' }).click();
  await page.getByRole('option', { name: 'Not enough in the wallet' }).click();
  await visible(page.getByText('No such request in this time.'));
  expect(page.url()).toBe(`${site}/requests?outcome=refused&reason=user_quota_insufficient`);
  await page.getByRole('button', { name: 'Remove the filter: Reason' }).click();
  await visible(row);
  expect(await violations(page.locator('main'))).toEqual([]);
});

test('the details of a request have all that is known, a link, and a copy for support', async ({
  visit,
  root,
  site,
}) => {
  const ada = await createUser(root, 'ada');
  const { id, key } = await newKey(await signedIn(site, ada), 'Crawler');
  const gateway = await asGateway(site, root);
  await waitPastMidnight();
  const body = { key, quota: 1000, model: 'gpt-5', request_id: 'chat-7', ip: '192.0.2.7' };
  const { reservation_id } = await done(gateway.POST('/api/gateway/reserve', { body }));
  await done(gateway.POST('/api/gateway/settle', { body: { reservation_id, quota: 1 } }));

  const page = await visit({
    as: ada,
    path: '/requests?model=gpt-5',
    expected: [/^400 GET \/api\/usage\/requests\?id=1700000000$/],
  });
  const row = tableOf(page).getByRole('row', { name: 'gpt-5' });
  await visible(row.getByText('$0.000002'));
  // A click beside the link opens it, too.
  await row.getByText('$0.000002').click();
  const details = detailsOf(page);
  const facts = [
    '192.0.2.7',
    'chat-7',
    'Settlement of a reservation (settle)',
    '$0.000002 = 1 units',
    reservation_id,
  ];
  await visible(...facts.map((fact) => details.getByText(fact, { exact: true })));
  await visible(
    details.getByText('The amount that the gateway sent'),
    details.getByText('$0.002 = 1,000 units'),
    details.getByText('The hold is given back'),
  );
  expect(await violations(details)).toEqual([]);

  await details.getByRole('button', { name: 'Copy for support' }).click();
  await visible(details.getByRole('button', { name: 'Copied' }));
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  for (const fact of facts) expect(copied).toContain(fact);
  expect(copied).not.toContain(key);
  await page.goBack();
  await hidden(details);
  expect(page.url()).toBe(`${site}/requests?model=gpt-5`);

  // The copy ends with the link.
  await page.goto(copied.split('\n').at(-1) ?? '');
  await visible(details.getByText('chat-7', { exact: true }));
  await details.getByRole('button', { name: 'Close' }).click();
  await hidden(details);
  expect(page.url()).toBe(`${site}/requests`);
  await row.getByRole('link').click();
  await details.getByRole('link', { name: 'Crawler' }).click();
  await visible(page.getByRole('heading', { name: 'Crawler', level: 1 }));
  expect(page.url()).toBe(`${site}/keys/${id}`);

  // One that is gone, and an address that was cut off.
  for (const missing of ['1700000000.c999999999', '1700000000']) {
    await page.goto(`/requests?id=${missing}`);
    await visible(details.getByText('There is no such request, or it is no longer kept.'));
  }
});

test('requests take one line at every width, and go on page by page', async ({ visit, root, site }) => {
  const ada = await createUser(root, 'ada-with-a-long-name');
  const crawler = await newKey(await signedIn(site, ada), 'A name of several words and about fifty letters');
  const gateway = await asGateway(site, root);
  await waitPastMidnight();
  const charges = Array.from({ length: 21 }, (_, n) => ({
    key: crawler.key,
    quota: 500,
    model: 'a-model-with-a-long-name-2026-11-28',
    request_id: `r-${n}`,
  }));
  await done(gateway.POST('/api/gateway/charges', { body: { charges } }));
  const counts = { prompt_tokens: 1200, completion_tokens: 34 };
  await done(
    gateway.POST('/api/gateway/charge', {
      body: { key: crawler.key, quota: 750_000, model: 'gpt-5', ...counts },
    }),
  );
  await gateway.POST('/api/gateway/charge', {
    body: { key: crawler.key, quota: 9_000_000_000, model: 'o3' },
  });
  const page = await visit({ as: ada, path: '/requests' });
  const requests = tableOf(page);
  // Of requests of one second, those that were charged come first, so it may be on the second page.
  await refusedRow(page, '/requests?outcome=refused', 'o3');
  await open(page, '/requests');
  const chat = requests.getByRole('row', { name: 'gpt-5' });
  await visible(chat.getByText('$1.50'), chat.getByText('1,200 in, 34 out'), chat.getByText('A name of'));
  await eventually(() => requests.getByRole('row').count()).toBe(21);
  await page.getByRole('button', { name: 'Show older requests' }).click();
  await eventually(() => requests.getByRole('row').count()).toBe(24);
  await hidden(page.getByRole('button', { name: 'Show older requests' }));
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 800 });
    await eventually(() => horizontalOverflow(page), `${width}`).toBe(0);
    await eventually(() => tallestRow(requests), `${width}`).toBeLessThan(50);
  }
  expect(await violations(page.locator('main'))).toEqual([]);

  await page.goto(`/keys/${crawler.id}`);
  const latest = page.getByRole('table', { name: 'Latest requests' });
  await eventually(() => latest.getByRole('row').count()).toBe(6);
  await page.setViewportSize({ width: 320, height: 700 });
  await eventually(() => horizontalOverflow(page)).toBe(0);
  await latest.getByRole('row', { name: 'gpt-5' }).getByRole('link').click();
  await visible(detailsOf(page).getByText('1,200', { exact: true }));

  const admin = await visit({ as: ROOT, path: `/admin/usage?user_id=${ada.id}` });
  await visible(admin.getByRole('table', { name: 'Latest requests' }).getByRole('row', { name: 'gpt-5' }));
  await admin.getByRole('link', { name: 'Show all requests' }).click();
  await visible(admin.getByRole('heading', { name: 'Requests by everyone', level: 1 }));
  await eventually(() => tableOf(admin).getByRole('row').count()).toBe(21);
});

/** The height of the tallest row. */
function tallestRow(table: Locator): Promise<number> {
  return table.evaluate((element) =>
    Math.max(...[...element.querySelectorAll('tr')].map((row) => row.getBoundingClientRect().height)),
  );
}

test('a request is found by its ID in all time, on its page and by Ctrl K', async ({ visit, root, site }) => {
  const ada = await createUser(root, 'ada');
  const { key } = await newKey(await signedIn(site, ada), 'Crawler');
  const gateway = await asGateway(site, root);
  await waitPastMidnight();
  const ids = ['first', 'second'].map((name) => `${name}-${process.pid}-request`);
  for (const request_id of ids)
    await done(gateway.POST('/api/gateway/charge', { body: { key, quota: 1, model: 'o1', request_id } }));

  const page = await visit({ as: ada, path: '/requests?range=yesterday' });
  await visible(page.getByText('No such request in this time.'));
  await page.goto('/requests');
  const search = page.getByRole('searchbox', { name: 'Search by request ID' });
  await search.fill(ids[0] ?? '');
  const rows = tableOf(page).getByRole('row');
  await eventually(() => rows.count()).toBe(2);
  await visible(page.getByRole('button', { name: 'Time: All time' }));
  const downloading = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Export requests' }).click();
  const lines = (await readFile(await (await downloading).path(), 'utf8')).trimEnd().split('\r\n');
  const column = lines[0]?.split(',').indexOf('request_id') ?? -1;
  expect(lines.slice(1).map((line) => line.split(',').at(column))).toEqual([ids[0]]);
  await rows.last().getByRole('link').click();
  await visible(detailsOf(page).getByText(ids[0] ?? '', { exact: true }));
  await page.keyboard.press('Escape');
  await hidden(detailsOf(page));
  await search.fill('no-such-request-1');
  await visible(page.getByText('No such request in this time.'));

  // What the server did not look through, it says.
  await page.route(
    ({ pathname, searchParams }) => pathname === '/api/usage/requests' && searchParams.has('request_id'),
    (route) =>
      route.fulfill({
        json: { success: true, message: '', data: { items: [], next: null, searched_from: 1_790_000_000 } },
      }),
  );
  await search.fill('no-such-request-2');
  await visible(page.getByText(/^No request with this ID since Sep \d+, 2026/));
  await search.fill(key);
  await visible(page.getByText(/^This looks like a key/));
  expect(page.url()).not.toContain(key.slice(3));
  await page.unrouteAll();

  for (const [as, path] of [
    [ada, '/requests'],
    [ROOT, '/admin/usage/requests'],
  ] as const) {
    const finder = await visit({ as, path: as === ROOT ? '/admin' : '/' });
    await visible(finder.getByRole('heading', { level: 1 }));
    await finder.keyboard.press('Control+k');
    const palette = finder.getByRole('dialog', { name: 'Search pages, keys and actions' });
    await palette.getByRole('combobox').fill(ids[1] ?? '');
    await palette.getByRole('option', { name: ids[1] }).filter({ hasText: 'o1' }).click();
    await visible(detailsOf(finder).getByText(ids[1] ?? '', { exact: true }));
    expect(finder.url()).toContain(`${site}${path}?id=`);
  }
});

test('requests are filtered by hours and minutes', async ({ visit, root, site }) => {
  const ada = await createUser(root, 'ada');
  const { key } = await newKey(await signedIn(site, ada), 'Crawler');
  const gateway = await asGateway(site, root);
  await waitPastMidnight();
  await done(gateway.POST('/api/gateway/charge', { body: { key, quota: 1, model: 'o1' } }));
  const page = await visit({ as: ada, path: '/requests' });
  const rows = tableOf(page).getByRole('row');
  await eventually(() => rows.count()).toBe(2);

  await page.getByRole('button', { name: 'Time: Last 7 days' }).click();
  await page.getByRole('button', { name: 'Last hour' }).click();
  await visible(page.getByRole('button', { name: /^Time: Since / }));
  await eventually(() => rows.count()).toBe(2);
  expect(new URL(page.url()).searchParams.get('from')).toMatch(/^\d+$/);

  await page.getByRole('button', { name: /^Time: Since / }).click();
  await page.getByLabel('From').fill('2026-01-05T14:02');
  await page.getByLabel('To', { exact: true }).fill('2026-01-05T14:01');
  await page.getByRole('button', { name: 'Apply' }).click();
  await visible(page.getByText('The end can’t be before the start.'));
  await page.getByLabel('To', { exact: true }).fill('2026-01-05T14:02');
  expect(await violations(page.getByRole('dialog'))).toEqual([]);
  await page.getByRole('button', { name: 'Apply' }).click();
  await visible(page.getByText('No such request in this time.'));
  const { searchParams } = new URL(page.url());
  expect(Number(searchParams.get('to')) - Number(searchParams.get('from'))).toBe(59);
  await page.reload();
  await visible(page.getByRole('button', { name: /^Time: .*2:02/ }));
});

test('a refusal by a limit says which one, how much of it was used and when it renews', async ({
  visit,
  root,
  site,
}) => {
  const ada = await createUser(root, 'ada');
  const { key } = await newKey(await signedIn(site, ada), 'Crawler', { period_limits: { day: 250_000 } });
  const gateway = await asGateway(site, root);
  await waitPastMidnight();
  await done(gateway.POST('/api/gateway/charge', { body: { key, quota: 200_000 } }));
  await gateway.POST('/api/gateway/charge', { body: { key, quota: 100_000 } });
  const page = await visit({ as: ada, path: '/requests?outcome=refused' });
  const row = await refusedRow(page, '/requests?outcome=refused', 'Daily limit of the key reached');
  await row.getByRole('link').click();
  const details = detailsOf(page);
  await visible(
    details.getByText('Daily limit of the key reached', { exact: true }),
    details.getByText(/^\$0\.40 of \$0\.50 used · \$0\.20 asked for · renews /),
    details.getByText('token_period_exceeded'),
    details.getByRole('button', { name: 'Raise the daily limit: Crawler' }),
  );
});

test('a refusal of an own key has a remedy that opens its field, and says that it is fixed', async ({
  visit,
  root,
  site,
}) => {
  const ada = await createUser(root, 'ada');
  const api = await signedIn(site, ada);
  const limits = { model_limits_enabled: true, model_limits: 'gpt-5' };
  const { id, key } = await newKey(api, 'Crawler', limits);
  const gateway = await asGateway(site, root);
  await waitPastMidnight();
  await gateway.POST('/api/gateway/charge', { body: { key, quota: 1, model: 'o3' } });
  await gateway.POST('/api/gateway/charge', { body: { key, quota: 9_000_000_000, model: 'gpt-5' } });
  const page = await visit({ as: ada, path: '/requests?outcome=refused' });
  const row = await refusedRow(page, '/requests?outcome=refused', 'o3');
  const details = detailsOf(page);
  const form = page.getByRole('dialog', { name: 'Edit “Crawler”' });
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute('data-path'));

  await tableOf(page).getByRole('row', { name: 'gpt-5' }).getByRole('link').click();
  await details.getByRole('button', { name: 'Add quota' }).click();
  await eventually(focused).toBe('remain_quota');
  await hidden(details);
  await form.getByRole('button', { name: 'Cancel' }).click();
  await hidden(form);
  await visible(details);
  await page.keyboard.press('Escape');
  await hidden(details);

  await row.getByRole('link').click();
  await details.getByRole('button', { name: 'Allow o3' }).click();
  await visible(form.getByText('o3', { exact: true }));
  await eventually(focused).toBe('model_limits');
  await form.getByRole('button', { name: 'Save changes' }).click();
  await hidden(form);
  const { model_limits } = await done(api.GET('/api/token/{id}/details', { params: { path: { id } } }));
  expect(model_limits).toBe('gpt-5,o3');
  await visible(details.getByText(/^Fixed /));
  await page.keyboard.press('Escape');
  await visible(row.getByText(/^Fixed /));
});

test('requests are filtered by a key that is not among the first hundred', async ({ visit, root, site }) => {
  const ada = await createUser(root, 'ada', { max_tokens: 200 });
  const api = await signedIn(site, ada);
  // The last one by name, and the oldest.
  const name = `Zebra ${ada.username}`;
  const zebra = await newKey(api, name);
  const numbers = Array.from({ length: 101 }, (_, index) => String(index + 1).padStart(3, '0'));
  await Promise.all(numbers.map((number) => newKey(api, `Key ${number}`)));
  const gateway = await asGateway(site, root);
  await waitPastMidnight();
  await done(gateway.POST('/api/gateway/charge', { body: { key: zebra.key, quota: 1, request_id: 'z' } }));

  const own = await visit({ as: ada, path: '/requests' });
  const adminPage = await visit({ as: ROOT, path: '/admin/usage/requests' });
  for (const [page, label] of [
    [own, name],
    [adminPage, `${name} of ${ada.username}`],
  ] as const) {
    const tokenId = () => new URL(page.url()).searchParams.get('token_id');
    const select = page.getByRole('combobox', { name: 'Key', exact: true });
    const chosen = page.getByRole('button', { name: `Key: ${label}`, exact: true });
    await page.getByRole('button', { name: 'Key', exact: true }).click();
    await select.click();
    await visible(page.getByRole('option').first());
    await hidden(page.getByRole('option', { name: label }));
    await select.fill(name.slice(1).toUpperCase());
    await page.getByRole('option', { name: label }).click();
    await eventually(tokenId).toBe(String(zebra.id));
    await visible(chosen);
    await eventually(() => tableOf(page).getByRole('row').count()).toBe(2);

    await page.reload();
    await visible(chosen);
    expect(await violations(page.locator('main'))).toEqual([]);
    await chosen.click();
    await select.fill('no such key');
    await visible(page.getByText('No matching keys'));
    await page.reload();
    await page.getByRole('button', { name: 'Remove the filter: Key' }).click();
    await eventually(tokenId).toBe(null);
    await visible(page.getByRole('button', { name: 'Key', exact: true }));
  }
});

test('administrators see the requests of one gateway, and the address keeps it', async ({
  visit,
  root,
  site,
}) => {
  const ada = await createUser(root, 'ada');
  const { key } = await newKey(await signedIn(site, ada), 'Crawler');
  await waitPastMidnight();
  const names = ['east', 'west'].map((name) => `${name} of ${ada.username}`);
  for (const name of names) {
    const gateway = await asGateway(site, root, name);
    await done(gateway.POST('/api/gateway/charge', { body: { key, quota: 1 } }));
  }
  const page = await visit({ as: ROOT, path: `/admin/usage/requests?user_id=${ada.id}` });
  const rows = tableOf(page).getByRole('row');
  await eventually(() => rows.count()).toBe(3);
  await visible(
    page.getByRole('button', { name: `User: ${ada.username}`, exact: true }),
    rows.last().getByText(`Crawler · ${ada.username}`),
  );

  await page.getByRole('button', { name: 'Gateway', exact: true }).click();
  await page.getByRole('combobox', { name: 'Gateway' }).click();
  await page.getByRole('option', { name: names[1] }).click();
  await eventually(() => rows.count()).toBe(2);
  const id = new URL(page.url()).searchParams.get('gateway_id');
  const csv = page.getByRole('link', { name: 'Export requests' });
  expect(await csv.getAttribute('href')).toContain(`&gateway_id=${id}`);
  await page.reload();
  await visible(page.getByRole('button', { name: `Gateway: ${names[1]}`, exact: true }));
  await eventually(() => rows.count()).toBe(2);
  expect(await violations(page.locator('main'))).toEqual([]);
  await rows.last().getByRole('link').click();
  await visible(
    detailsOf(page).getByText(names[1] ?? '', { exact: true }),
    detailsOf(page).getByRole('link', { name: ada.username }),
  );
  await page.keyboard.press('Escape');
  for (const width of [320, 768, 1024, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    await eventually(() => horizontalOverflow(page)).toBe(0);
  }

  await done(root.DELETE('/api/admin/gateways/{id}', { params: { path: { id: Number(id) } } }));
  await page.reload();
  await visible(page.getByRole('button', { name: `Gateway: Removed gateway ${id}` }));
  await page.getByRole('button', { name: 'Remove the filter: Gateway' }).click();
  await eventually(() => rows.count()).toBe(3);
  expect(page.url()).toBe(`${site}/admin/usage/requests?user_id=${ada.id}`);
});
