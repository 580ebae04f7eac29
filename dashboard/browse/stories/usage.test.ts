import { readFile } from 'node:fs/promises';
import { violations } from '../harness/accessibility';
import { createUser, done, newKey, ROOT, signedIn } from '../harness/accounts';
import { isUncovered } from '../harness/covering';
import { eventually } from '../harness/eventually';
import { asGateway } from '../harness/gateway';
import { waitPastMidnight } from '../harness/midnight';
import { open } from '../harness/pages';
import { horizontalOverflow } from '../harness/scrolling';
import { expect, test } from '../harness/test';
import { hidden, visible } from '../harness/visibility';

test('usage over chosen days, by model and by key, is in the address', async ({ visit, root, site }) => {
  const ada = await createUser(root, 'ada');
  const api = await signedIn(site, ada);
  const small = await newKey(api, 'Small');
  const large = await newKey(api, 'Large');
  const gateway = await asGateway(site, root);
  await waitPastMidnight();
  await done(gateway.POST('/api/gateway/charge', { body: { key: small.key, quota: 250_000, model: 'o1' } }));
  await done(
    gateway.POST('/api/gateway/charge', { body: { key: large.key, quota: 750_000, model: 'gpt-5' } }),
  );
  const page = await visit({ as: ada });
  await page.getByRole('link', { name: 'Usage' }).click();

  const table = page.getByRole('table', { name: 'Usage by day' });
  const total = table.getByRole('row', { name: 'Total' });
  await visible(
    total.getByText('$2.00'),
    table.getByRole('columnheader', { name: 'gpt-5' }),
    total.getByText('$1.50'),
  );
  const models = page.getByRole('table', { name: 'Models by spend' });
  await visible(
    models.getByRole('row', { name: 'gpt-5' }).getByText('$1.50'),
    models.getByRole('row', { name: 'o1' }).getByText('$0.50'),
  );

  await page.getByText('Key', { exact: true }).first().click();
  const ranking = page.getByRole('table', { name: 'Keys by spend' });
  await visible(ranking.getByText('$1.50'), ranking.getByRole('progressbar', { name: '75% of the spend' }));
  expect(await ranking.getByRole('link').allInnerTexts()).toEqual(['Large', 'Small']);
  await visible(table.getByRole('columnheader', { name: 'Large' }));
  expect(page.url()).toBe(`${site}/usage?by=token`);
  await page.goto('/usage');

  const days = table.getByRole('row');
  await page.getByRole('combobox', { name: 'Date range' }).click();
  await page.getByRole('option', { name: 'Last 90 days' }).click();
  await eventually(() => days.count()).toBe(92);
  expect(page.url()).toBe(`${site}/usage?range=90d`);
  expect(await violations(page.locator('main'))).toEqual([]);
  await page.setViewportSize({ width: 320, height: 700 });
  await eventually(() => horizontalOverflow(page)).toBe(0);
  await page.setViewportSize({ width: 1280, height: 800 });

  await page.getByRole('combobox', { name: 'Date range' }).click();
  await page.getByRole('option', { name: 'Custom range' }).click();
  await page.getByLabel('From').fill('2026-01-05');
  await page.getByLabel('To', { exact: true }).fill('2026-01-09');
  await visible(page.getByText('No usage'));
  expect(page.url()).toBe(`${site}/usage?range=custom&from=2026-01-05&to=2026-01-09`);
  await page.reload();
  await eventually(() => days.count()).toBe(7);

  await page.goto(`/keys/${large.id}?range=month`);
  await visible(
    page.getByRole('row', { name: 'Total' }).getByText('$1.50'),
    models.getByRole('row', { name: 'gpt-5' }),
  );
  await page.goto('/usage');
  const downloading = page.waitForEvent('download');
  await page.getByRole('link', { name: 'CSV by day and model' }).click();
  const lines = (await readFile(await (await downloading).path(), 'utf8')).trimEnd().split('\r\n');
  expect(lines[0]).toContain('date,model');
  expect(lines).toHaveLength(3);
});

test('a chart has amounts, and the figures of the day below the pointer beside them', async ({
  visit,
  root,
  site,
}) => {
  const ada = await createUser(root, 'ada');
  const { key } = await newKey(await signedIn(site, ada), 'Website');
  const gateway = await asGateway(site, root);
  await waitPastMidnight();
  for (const [model, quota] of [['gpt-5', 900_000] as const, ['o1', 300_000] as const])
    await done(gateway.POST('/api/gateway/charge', { body: { key, quota, model } }));

  const page = await visit({ as: ada, path: '/usage?range=90d' });
  const chart = page.getByRole('img', { name: /Highest: \$2\.40 on / });
  await visible(chart.getByText('$3', { exact: true }), chart.getByText('$0', { exact: true }));
  const names = chart.getByText(/^[A-Z][a-z]{2} \d+$/);
  const shown = await names.count();
  expect(shown).toBeGreaterThan(3);
  const { width, height } = (await chart.boundingBox()) ?? { width: 0, height: 0 };
  // The last day is today.
  await chart.hover({ position: { x: width - 21, y: height / 2 } });
  await visible(page.getByText(/: \$2\.40$/), page.getByText('2 requests · 0 input tokens'));
  expect(await Promise.all((await names.all()).map(isUncovered))).toEqual(Array(shown).fill(true));
  // Nothing was spent in the 90 days before.
  await hidden(page.getByText(/against/));
  const today = new Date().toISOString().slice(0, 10);
  await page.route(
    ({ pathname, searchParams }) => pathname === '/api/usage' && (searchParams.get('to') ?? today) < today,
    async (route) => {
      const answer = await route.fetch();
      const { data, ...envelope } = await answer.json();
      const total = { ...data.total, quota: 1_000_000 };
      await route.fulfill({ response: answer, json: { ...envelope, data: { ...data, total } } });
    },
  );
  await page.goto('/usage');
  await visible(page.getByText(/^\+20% against [A-Z]/));
});

test('an amount is the same everywhere, and the newest day and the total of a table stay in view', async ({
  visit,
  root,
  site,
}) => {
  const ada = await createUser(root, 'ada');
  const path = { id: ada.id };
  await done(
    root.PATCH('/api/admin/users/{id}', { params: { path }, body: { period_limits: { month: 25_000_000 } } }),
  );
  const { id, key } = await newKey(await signedIn(site, ada), 'Website');
  const gateway = await asGateway(site, root);
  await waitPastMidnight();
  // $0.0152, which is $0.01 if it is cut and $0.02 if it is rounded.
  await done(gateway.POST('/api/gateway/charge', { body: { key, quota: 7_600 } }));

  const page = await visit({ as: ada });
  await visible(page.getByText('$0.02 spent in total'), page.getByText('$0.02 of $50.00 this month'));
  await page.goto(`/keys/${id}?range=90d`);
  await visible(page.getByText('$0.02 used'), page.getByText('$9.98 left'));
  const table = page.getByRole('region', { name: 'Usage by day' });
  const total = table.getByRole('row', { name: 'Total' });
  await visible(total.getByText('$0.02'));
  await visible(table.getByRole('row').nth(1).getByText('$0.02'));
  await visible(page.getByRole('img', { name: /Highest: \$0\.02 on / }));

  await table.scrollIntoViewIfNeeded();
  expect(await isUncovered(total.getByText('$0.02'))).toBe(true);
  await table.evaluate((element) => element.scrollTo(0, element.scrollHeight / 2));
  expect(await isUncovered(total.getByText('$0.02'))).toBe(true);
  expect(await isUncovered(table.getByRole('columnheader', { name: 'Requests' }))).toBe(true);
});

test('the pages of usage, of a key and of all users say why requests were refused', async ({
  visit,
  root,
  site,
}) => {
  const ada = await createUser(root, 'ada');
  const api = await signedIn(site, ada);
  const website = await newKey(api, 'Website');
  const limited = await newKey(api, 'Batch', { remain_quota: 10 });
  const gateway = await asGateway(site, root);
  await waitPastMidnight();
  for (const quota of [11, 12, 13]) {
    await gateway.POST('/api/gateway/charge', { body: { key: limited.key, quota } });
  }
  await done(root.PATCH('/api/admin/users/{id}', { params: { path: { id: ada.id } }, body: { status: 2 } }));
  await done(gateway.POST('/api/gateway/verify', { body: { key: website.key } }));
  await done(root.PATCH('/api/admin/users/{id}', { params: { path: { id: ada.id } }, body: { status: 1 } }));

  const page = await visit({ as: ada });
  const refused = page.getByRole('table', { name: 'Refused requests' });
  // The server writes the numbers every five seconds.
  await eventually(async () => {
    await page.goto('/usage');
    await page.getByRole('heading', { name: 'Refused requests' }).waitFor();
    return await refused.getByRole('row').allInnerTexts();
  }).toEqual([
    'Reason\tKey\tRequests',
    'Not enough quota left on the key\tBatch\t3',
    'Account disabled\tWebsite\t1',
  ]);
  await visible(page.getByText('4 requests were refused by the limits and settings of keys and accounts.'));
  expect(await violations(page.locator('main'))).toEqual([]);
  await refused.getByRole('link', { name: 'Batch' }).click();
  await page.waitForURL(`${site}/keys/${limited.id}`);
  await visible(refused.getByRole('row', { name: 'Not enough quota left on the key 3' }));
  await page.goto(`/keys/${website.id}?range=custom&from=2026-01-05&to=2026-01-09`);
  await visible(page.getByText('No request was refused on these days.'));

  const admin = await visit({ as: ROOT, path: `/admin/usage?user_id=${ada.id}` });
  const all = admin.getByRole('table', { name: 'Refused requests' });
  await visible(all.getByRole('row', { name: `Account disabled Website ${ada.username} 1` }));
  await admin.goto(`/admin/users/${ada.id}`);
  await visible(all.getByRole('row', { name: 'Account disabled Website 1' }));
  await admin.goto(`/admin/tokens/${limited.id}`);
  await visible(all.getByRole('row', { name: 'Not enough quota left on the key 3' }));
});

test('a refused request says why, and refusals are shown alone', async ({ visit, root, site }) => {
  const ada = await createUser(root, 'ada');
  const crawler = await newKey(await signedIn(site, ada), 'Crawler');
  const gateway = await asGateway(site, root);
  await waitPastMidnight();
  await done(
    gateway.POST('/api/gateway/charge', { body: { key: crawler.key, quota: 500, request_id: 'paid' } }),
  );
  await gateway.POST('/api/gateway/charge', {
    body: { key: crawler.key, quota: 9_000_000_000, model: 'gpt-5', request_id: 'too-much' },
  });
  const page = await visit({ as: ada, path: '/requests' });
  const requests = page.getByRole('table', { name: 'Requests' });
  await visible(requests.getByRole('row', { name: 'paid' }));
  await eventually(async () => {
    await page.reload();
    await visible(requests.getByRole('row', { name: 'paid' }));
    return requests.getByRole('row', { name: 'too-much' }).count();
  }).toBe(1);
  await page.getByRole('radiogroup', { name: 'Outcome' }).getByText('Refused').click();
  await eventually(() => requests.getByRole('row').count()).toBe(2);
  const row = requests.getByRole('row', { name: 'too-much' });
  await visible(
    row.getByText('gpt-5'),
    row.getByText(/Not enough/),
    page.getByText('Showing 1 of 1 refused'),
  );
  await page.getByRole('combobox', { name: 'Reason' }).click();
  await page.getByRole('option', { name: 'Not enough in the wallet' }).click();
  await visible(page.getByText('No such request on these days.'));
  expect(page.url()).toBe(`${site}/requests?outcome=refused&reason=user_quota_insufficient`);
  await page.goto(`/requests?token_id=${crawler.id}`);
  await row.getByRole('button', { name: 'Copy the link to this request' }).click();
  await page.goto(await page.evaluate(() => navigator.clipboard.readText()));
  await eventually(() => requests.getByRole('row').count()).toBe(2);
  await visible(row);
  await page.getByRole('button', { name: 'Show all requests' }).click();
  await visible(requests.getByRole('row', { name: 'paid' }));
});

test('single requests say model, cost and ids, are searched, and go on page by page', async ({
  visit,
  root,
  site,
}) => {
  const ada = await createUser(root, 'ada');
  const crawler = await newKey(await signedIn(site, ada), 'Crawler');
  const gateway = await asGateway(site, root);
  await waitPastMidnight();
  const charges = Array.from({ length: 21 }, (_, n) => ({
    key: crawler.key,
    quota: 500,
    request_id: `r-${n}`,
  }));
  await done(gateway.POST('/api/gateway/charges', { body: { charges } }));
  await done(
    gateway.POST('/api/gateway/charge', {
      body: {
        key: crawler.key,
        quota: 750_000,
        model: 'gpt-5',
        request_id: 'chat-7',
        ip: '192.0.2.7',
        prompt_tokens: 1200,
        completion_tokens: 34,
      },
    }),
  );
  const page = await visit({ as: ada, path: '/requests' });
  const requests = page.getByRole('table', { name: 'Requests' });
  const chat = requests.getByRole('row', { name: 'chat-7' });
  await visible(
    chat.getByText('gpt-5'),
    chat.getByText('$1.50'),
    chat.getByText('1,200 in, 34 out'),
    chat.getByText('192.0.2.7'),
    chat.getByRole('link', { name: 'Crawler' }),
  );
  await eventually(() => requests.getByRole('row').count()).toBe(21);
  await page.getByRole('button', { name: 'Show older requests' }).click();
  await eventually(() => requests.getByRole('row').count()).toBe(23);
  await hidden(page.getByRole('button', { name: 'Show older requests' }));

  await page.getByRole('textbox', { name: 'Request ID' }).fill('r-3');
  await eventually(() => requests.getByRole('row').count()).toBe(2);
  const downloading = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Export requests' }).click();
  const lines = (await readFile(await (await downloading).path(), 'utf8')).trimEnd().split('\r\n');
  const column = lines[0]?.split(',').indexOf('request_id') ?? -1;
  expect(lines.slice(1).map((line) => line.split(',').at(column))).toEqual(['r-3']);
  await visible(requests.getByRole('row', { name: 'r-3' }));
  await page.getByRole('textbox', { name: 'Model' }).fill('o1');
  await visible(page.getByText('No such request on these days.'));
  expect(await violations(page.locator('main'))).toEqual([]);

  await page.goto(`/keys/${crawler.id}`);
  const latest = page.getByRole('table', { name: 'Latest requests' });
  await visible(latest.getByRole('row', { name: 'chat-7' }));
  await eventually(() => latest.getByRole('row').count()).toBe(6);
  await page.setViewportSize({ width: 320, height: 700 });
  await eventually(() => horizontalOverflow(page)).toBe(0);

  const adminPage = await visit({ as: ROOT, path: `/admin/usage?user_id=${ada.id}` });
  const newest = adminPage.getByRole('table', { name: 'Latest requests' });
  await visible(newest.getByRole('row', { name: 'chat-7' }));
  await adminPage.getByRole('link', { name: 'Show all requests' }).click();
  await visible(adminPage.getByRole('heading', { name: 'Requests by everyone', level: 1 }));
  await eventually(() => adminPage.getByRole('table', { name: 'Requests' }).getByRole('row').count()).toBe(
    21,
  );
});

test('a refusal of an own key has a fix that opens its field', async ({ visit, root, site }) => {
  const ada = await createUser(root, 'ada');
  const api = await signedIn(site, ada);
  const limits = { model_limits_enabled: true, model_limits: 'gpt-5' };
  const { id, key } = await newKey(api, 'Crawler', limits);
  const gateway = await asGateway(site, root);
  await waitPastMidnight();
  await gateway.POST('/api/gateway/charge', { body: { key, quota: 1, model: 'o3' } });
  await gateway.POST('/api/gateway/charge', { body: { key, quota: 9_000_000_000, model: 'gpt-5' } });
  const page = await visit({ as: ada, path: '/requests?outcome=refused' });
  const allow = page.getByRole('button', { name: 'Allow o3' });
  await eventually(async () => {
    await open(page, '/requests?outcome=refused');
    return allow.count();
  }).toBe(1);
  expect(await violations(page.locator('main'))).toEqual([]);

  await page.getByRole('button', { name: 'Add quota' }).click();
  const form = page.getByRole('dialog', { name: 'Edit “Crawler”' });
  await eventually(() => page.evaluate(() => document.activeElement?.getAttribute('data-path'))).toBe(
    'remain_quota',
  );
  await form.getByRole('button', { name: 'Cancel' }).click();
  await hidden(form);

  await allow.click();
  await visible(form.getByText('o3', { exact: true }));
  await eventually(() => page.evaluate(() => document.activeElement?.getAttribute('data-path'))).toBe(
    'model_limits',
  );
  await form.getByRole('button', { name: 'Save changes' }).click();
  await hidden(form);
  const { model_limits } = await done(api.GET('/api/token/{id}/details', { params: { path: { id } } }));
  expect(model_limits).toBe('gpt-5,o3');
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
    const select = page.getByRole('combobox', { name: 'Key', exact: true });
    await select.click();
    await visible(page.getByRole('option').first());
    await hidden(page.getByRole('option', { name: label }));
    await select.fill(name.slice(1).toUpperCase());
    await page.getByRole('option', { name: label }).click();
    await eventually(() => new URL(page.url()).searchParams.get('token_id')).toBe(String(zebra.id));
    await eventually(() => select.inputValue()).toBe(label);
    const requests = page.getByRole('table', { name: 'Requests' });
    await eventually(() => requests.getByRole('row').count()).toBe(2);

    await page.reload();
    await eventually(() => select.inputValue()).toBe(label);
    expect(await violations(page.locator('main'))).toEqual([]);
    await select.fill('no such key');
    await visible(page.getByText('No matching keys'));
    await page.keyboard.press('Escape');
    await page.getByLabel('Clear selection').click();
    await eventually(() => new URL(page.url()).searchParams.get('token_id')).toBe(null);
    await eventually(() => select.inputValue()).toBe('');
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
  const requests = page.getByRole('table', { name: 'Requests' });
  await eventually(() => requests.getByRole('row').count()).toBe(3);

  const select = page.getByRole('combobox', { name: 'Gateway' });
  await select.click();
  await page.getByRole('option', { name: names[1] }).click();
  await eventually(() => requests.getByRole('row').count()).toBe(2);
  await visible(requests.getByText(names[1] ?? ''));
  const id = new URL(page.url()).searchParams.get('gateway_id');
  const csv = page.getByRole('link', { name: 'Export requests' });
  expect(await csv.getAttribute('href')).toContain(`&gateway_id=${id}`);
  await page.reload();
  await eventually(() => select.inputValue()).toBe(names[1]);
  await eventually(() => requests.getByRole('row').count()).toBe(2);
  expect(await violations(page.locator('main'))).toEqual([]);
  for (const width of [320, 768, 1024, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    await eventually(() => horizontalOverflow(page)).toBe(0);
  }

  await done(root.DELETE('/api/admin/gateways/{id}', { params: { path: { id: Number(id) } } }));
  await page.reload();
  await eventually(() => select.inputValue()).toBe(`Removed gateway ${id}`);
  await page.getByLabel('Clear selection').last().click();
  await eventually(() => requests.getByRole('row').count()).toBe(3);
  expect(page.url()).toBe(`${site}/admin/usage/requests?user_id=${ada.id}`);
});
