import { violations } from '../harness/accessibility';
import { type Api, createUser, done, newKey, type Person, ROOT, signedIn } from '../harness/accounts';
import { isUncovered } from '../harness/covering';
import { eventually } from '../harness/eventually';
import { asGateway } from '../harness/gateway';
import { waitPastMidnight } from '../harness/midnight';
import { exported, open, showTable } from '../harness/pages';
import { horizontalOverflow } from '../harness/scrolling';
import { expect, test } from '../harness/test';
import { hidden, visible } from '../harness/visibility';

/** Who spent $1.80 with one model and $0.60 with another one today. */
async function spender(root: Api, site: string): Promise<Person> {
  const ada = await createUser(root, 'ada');
  const { key } = await newKey(await signedIn(site, ada), 'Website');
  const gateway = await asGateway(site, root);
  await waitPastMidnight();
  for (const [model, quota] of [['gpt-5', 900_000] as const, ['o1', 300_000] as const])
    await done(gateway.POST('/api/gateway/charge', { body: { key, quota, model } }));
  return ada;
}

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

  await showTable(page);
  const table = page.getByRole('table', { name: 'Usage by day' });
  const total = table.getByRole('row', { name: 'Total' });
  await visible(
    total.getByText('$2.00'),
    table.getByRole('columnheader', { name: 'gpt-5' }),
    total.getByText('$1.50'),
  );
  const models = page.getByRole('table', { name: 'Models by spend' });
  await visible(
    models.getByRole('row', { name: 'gpt-5' }).getByText('$1.50', { exact: true }),
    models.getByRole('row', { name: 'o1' }).getByText('$0.50', { exact: true }),
  );

  await page.getByText('Key', { exact: true }).first().click();
  const ranking = page.getByRole('table', { name: 'Keys by spend' });
  await visible(
    ranking.getByText('$1.50', { exact: true }),
    ranking.getByRole('progressbar', { name: '75% of the spend' }),
  );
  const links = await ranking.getByRole('link').allInnerTexts();
  expect(links.filter(Boolean)).toEqual(['Large', 'Small']);
  await visible(table.getByRole('columnheader', { name: 'Large' }));
  expect(page.url()).toBe(`${site}/usage?by=token`);
  await page.goto('/usage');
  await showTable(page);

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
  await showTable(page);
  await eventually(() => days.count()).toBe(7);

  await page.goto(`/keys/${large.id}?range=month`);
  await showTable(page);
  await visible(
    page.getByRole('row', { name: 'Total' }).getByText('$1.50'),
    models.getByRole('row', { name: 'gpt-5' }),
  );
  await page.goto('/usage');
  const lines = await exported(page, 'CSV by day and model');
  expect(lines[0]).toContain('date,model');
  expect(lines).toHaveLength(3);
});

test('a chart has amounts, and the figures of the day below the pointer beside them', async ({
  visit,
  root,
  site,
}) => {
  const ada = await spender(root, site);

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
  await visible(page.getByText(/^Compared with .+, when nothing was spent/));
});

test('days are compared with others, row by row, and the largest change comes first', async ({
  visit,
  root,
  site,
}) => {
  const ada = await spender(root, site);
  // Nobody can spend in the past.
  const before: Record<string, number> = { 'gpt-5': 800_000, o1: 100_000 };
  const compared = (row: { quota: number }, quota: number) => ({
    ...row,
    before: { ...row, quota },
    change: { ...row, quota: row.quota - quota },
  });
  const page = await visit({ as: ada, path: '/keys' });
  await page.route(
    ({ pathname, searchParams }) => pathname === '/api/usage' && searchParams.has('compare_from'),
    async (route) => {
      const answer = await route.fetch();
      const { data, ...envelope } = await answer.json();
      const byChange = new URL(route.request().url()).searchParams.get('sort') === 'change';
      const rows = data.rows.map((row: { quota: number; model: string }) =>
        compared(row, before[row.model] ?? 0),
      );
      if (byChange) expect(rows.map(({ model }: { model: string }) => model)).toEqual(['gpt-5', 'o1']);
      const shown = { rows: byChange ? rows.toReversed() : rows, total: compared(data.total, 900_000) };
      await route.fulfill({ response: answer, json: { ...envelope, data: { ...data, ...shown } } });
    },
  );
  await page.goto('/usage');
  await visible(page.getByText(/^\+\$0\.60 · \+33% against [A-Z].+ · today is not over yet$/));
  const bySpend = page.getByRole('table', { name: 'Models by spend' });
  const row = bySpend.getByRole('row', { name: 'o1' });
  await visible(row.getByText('$0.20'), row.getByText('+$0.40'), row.getByText('+200%'));
  await page.getByRole('radiogroup', { name: 'Order' }).getByText('By change').click();
  const models = page.getByRole('table', { name: 'Models by change' });
  await visible(models.getByRole('row').nth(1).getByText('o1'));
  expect(page.url()).toBe(`${site}/usage?order=change`);
  expect(await violations(page.locator('main'))).toEqual([]);
  await page.setViewportSize({ width: 320, height: 700 });
  await eventually(() => horizontalOverflow(page)).toBe(0);
  await page.setViewportSize({ width: 1280, height: 800 });

  const comparison = page.getByRole('combobox', { name: 'Compare with' });
  await comparison.click();
  await page.getByRole('option', { name: 'Don’t compare' }).click();
  await hidden(page.getByText(/against/));
  await hidden(page.getByRole('columnheader', { name: 'Change' }));
  await comparison.click();
  await page.getByRole('option', { name: 'Compare with other days' }).click();
  await page.getByLabel('Compare from').fill('2026-01-05');
  await page.getByLabel('Compare to').fill('2026-01-09');
  await visible(page.getByText(/against Jan 5 – 9/));
  await page.getByRole('combobox', { name: 'Date range' }).click();
  await page.getByRole('option', { name: 'This week' }).click();
  await eventually(() => new URL(page.url()).searchParams.get('range')).toBe('week');
  // The usage of this week may still be on its way.
  await page.unrouteAll({ behavior: 'wait' });
});

test('a bar opens what it is made of: a day its hours, an hour and a model their requests', async ({
  visit,
  root,
  site,
}) => {
  const ada = await createUser(root, 'ada');
  const { key } = await newKey(await signedIn(site, ada), 'Website');
  const gateway = await asGateway(site, root);
  await waitPastMidnight();
  await done(gateway.POST('/api/gateway/charge', { body: { key, quota: 900_000, model: 'gpt-5' } }));
  const page = await visit({ as: ada, path: '/usage' });
  const chart = page.getByRole('img', { name: /^Spend by day/ });
  await visible(chart);
  const { width, height } = (await chart.boundingBox()) ?? { width: 0, height: 0 };
  // The last day is today.
  await chart.click({ position: { x: width - 21, y: height / 2 } });
  const today = new Date().toISOString().slice(0, 10);
  await page.waitForURL(`${site}/usage?range=custom&from=${today}&to=${today}`);
  await visible(
    page.getByRole('heading', { name: 'Spend by hour' }),
    page.getByRole('img', { name: /^Spend by hour\. Highest: \$1\.80 from .+ UTC\.$/ }),
  );
  await showTable(page);
  const hours = page.getByRole('table', { name: 'Usage by hour' });
  // With the header and the total.
  await eventually(() => hours.getByRole('row').count()).toBe(26);
  const spent = hours.getByRole('row').filter({ hasText: '$1.80' }).first();
  expect(await violations(page.locator('main'))).toEqual([]);
  expect((await exported(page, 'CSV by hour and model'))[0]).toContain('hour,model');

  await spent.getByRole('link').click();
  await page.waitForURL(/\/requests\?range=custom&from=\d+&to=\d+$/);
  const { searchParams } = new URL(page.url());
  expect(Number(searchParams.get('to')) - Number(searchParams.get('from'))).toBe(3599);
  await page.goBack();
  await page.getByRole('table', { name: 'Models by spend' }).getByRole('link').click();
  await page.waitForURL(`${site}/requests?model=gpt-5&range=custom&from=${today}&to=${today}`);
});

test('rankings and refused requests go on from page to page', async ({ visit, root, site }) => {
  const ada = await createUser(root, 'ada', { max_tokens: 30 });
  const api = await signedIn(site, ada);
  const names = Array.from({ length: 21 }, (_, index) => `Key ${index + 1}`);
  const keys = await Promise.all(names.map((name) => newKey(api, name, { remain_quota: 5 })));
  const gateway = await asGateway(site, root);
  await waitPastMidnight();
  for (const { key } of keys) {
    await done(gateway.POST('/api/gateway/charge', { body: { key, quota: 1 } }));
    await gateway.POST('/api/gateway/charge', { body: { key, quota: 9 } });
  }
  const page = await visit({ as: ada, path: '/usage?by=token' });
  const ranking = page.getByRole('table', { name: 'Keys by spend' });
  await eventually(() => ranking.getByRole('row').count()).toBe(21);
  const pages = page.getByRole('navigation', { name: 'Pages' });
  await pages.first().getByRole('button', { name: 'Next page' }).click();
  await eventually(() => ranking.getByRole('row').count()).toBe(2);
  await visible(ranking.getByRole('cell', { name: '21', exact: true }));

  const refused = page.getByRole('table', { name: 'Refused requests' });
  // The server writes the numbers every five seconds.
  await eventually(async () => {
    await open(page, '/usage?by=token');
    return pages.count();
  }).toBe(2);
  await pages.last().getByRole('button', { name: 'Next page' }).click();
  await eventually(() => refused.getByRole('row').count()).toBe(2);
  await eventually(() => ranking.getByRole('row').count()).toBe(21);
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
  await visible(
    page.getByText('$0.02 used'),
    page.getByText('$9.98 left'),
    page.getByRole('img', { name: /Highest: \$0\.02 on / }),
  );
  await showTable(page);
  const table = page.getByRole('region', { name: 'Usage by day' });
  const total = table.getByRole('row', { name: 'Total' });
  await visible(total.getByText('$0.02'));
  await visible(table.getByRole('row').nth(1).getByText('$0.02'));

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
