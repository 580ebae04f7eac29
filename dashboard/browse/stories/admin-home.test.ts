import { violations } from '../harness/accessibility';
import { type Api, createUser, done, newKey, ROOT, signedIn } from '../harness/accounts';
import { eventually } from '../harness/eventually';
import { asGateway } from '../harness/gateway';
import { waitPastMidnight } from '../harness/midnight';
import { horizontalOverflow } from '../harness/scrolling';
import { expect, test } from '../harness/test';
import { hidden, visible } from '../harness/visibility';

/** The home asks for many reports at once. An account has eight at most, and root's are those of other stories. */
const administrator = (root: Api) => createUser(root, 'adam', { role: 10 });

test('administrators see at a glance what everyone spends, and who cannot spend any more', async ({
  visit,
  root,
  site,
}) => {
  const greta = await createUser(root, 'greta', { quota: 600_000_000 });
  const { key } = await newKey(await signedIn(site, greta), 'Crawler', { remain_quota: 600_000_000 });
  await waitPastMidnight();
  const gateway = await asGateway(site, root);
  await done(gateway.POST('/api/gateway/charge', { body: { key, quota: 600_000_000 } }));
  const page = await visit({ as: await administrator(root) });
  await page.getByRole('link', { name: 'Admin overview' }).click();
  const block = (name: string) => page.getByRole('region', { name });

  await visible(
    page.getByRole('heading', { name: 'Spent today (UTC)' }),
    block('Top users in 30 days').getByRole('link', { name: greta.username }),
    block('Top keys in 30 days').getByRole('link', { name: `Crawler ${greta.username}` }),
    block('Server').getByText('Ready', { exact: true }),
    block('Gateways').getByText('Last seen').first(),
  );
  const wallet = block('Low wallets').getByRole('link', { name: greta.username });
  await visible(wallet.getByText('Empty'));
  expect(await violations(page.locator('main'))).toEqual([]);

  await wallet.click();
  await visible(page.getByRole('heading', { level: 1, name: greta.username }));
  await page.goBack();
  await block('Top keys in 30 days')
    .getByRole('link', { name: `Crawler ${greta.username}` })
    .click();
  await visible(page.getByRole('heading', { level: 1, name: 'Crawler' }));
  await page.goto('/admin');
  await block('Low wallets').getByRole('link', { name: 'All wallets' }).click();
  await visible(page.getByRole('table', { name: 'Users' }));
  expect(page.url()).toBe(`${site}/admin/users?sort=lowest_wallet`);
});

test('a part of the home that fails leaves the others, and is loaded again alone', async ({
  visit,
  root,
}) => {
  const page = await visit({ as: await administrator(root), expected: [/^500 GET \/api\/admin\/gateways/] });
  await page.route('**/api/admin/gateways', (route) => route.fulfill({ status: 500, body: 'oops' }));
  await page.goto('/admin');
  const gateways = page.getByRole('region', { name: 'Gateways' });
  await visible(gateways.getByRole('alert'));
  await visible(page.getByRole('region', { name: 'Server' }).getByText('Ready', { exact: true }));
  await page.unroute('**/api/admin/gateways');
  await gateways.getByRole('button', { name: 'Try again' }).click();
  await hidden(gateways.getByRole('alert'));
});

test('reports behind those of other tabs are asked for again', async ({ visit, root }) => {
  const busy = /^429 GET \/api\/admin\/usage/;
  const page = await visit({ as: await administrator(root), expected: [busy] });
  const body = { success: false, message: 'too many of your reports are waiting', error: 'reports_busy' };
  const refused = new Set<string>();
  await page.route('**/api/admin/usage?*', (route) => {
    const url = route.request().url();
    if (refused.has(url)) return route.continue();
    refused.add(url);
    return route.fulfill({ status: 429, headers: { 'retry-after': '1' }, json: body });
  });
  await page.goto('/admin');
  await visible(page.getByRole('region', { name: 'Top users in 30 days' }).getByRole('link').first());
  expect(refused.size).toBeGreaterThan(0);
  await hidden(page.getByRole('alert'));
});

test('a server that is not ready says why, without a banner', async ({ visit, root }) => {
  const page = await visit({ as: await administrator(root), expected: [/^503 GET \/readyz/] });
  const body = { success: false, message: 'the database accepts no writes', error: 'database_read_only' };
  await page.route('**/readyz', (route) => route.fulfill({ status: 503, json: body }));
  await page.goto('/admin');
  const server = page.getByRole('region', { name: 'Server' });
  await visible(server.getByText('Not ready'), server.getByText(/database/));
  await hidden(page.getByText('Retrying; what you typed is kept'));
});

test('a request is approved and its wallet topped up in one step', async ({ visit, root, site }) => {
  const hugo = await createUser(root, 'hugo', { token_api_enabled: false, quota: 500_000 });
  const api = await signedIn(site, hugo);
  await done(api.POST('/api/user/token_api_request', { body: { reason: 'For the archive', account: '' } }));
  const page = await visit({ as: ROOT, path: '/admin' });
  await page.getByRole('button', { name: `Approve ${hugo.username}’s request` }).click();
  const dialog = page.getByRole('dialog', { name: `Approve ${hugo.username}’s request?` });
  await visible(dialog.getByText('The wallet holds $1.00.'));
  await dialog.getByLabel('Add to their wallet').fill('ten');
  await visible(dialog.getByText('Enter an amount like 12.50'));
  await dialog.getByLabel('Add to their wallet').fill('10.50');
  await dialog.getByLabel('Note').fill('Welcome.');
  expect(await violations(dialog)).toEqual([]);
  await dialog.getByRole('button', { name: 'Approve and top up' }).click();
  await hidden(dialog);
  await visible(page.getByText(`Approved ${hugo.username}’s request and added $10.50 to the wallet.`));
  await hidden(page.getByRole('button', { name: `Approve ${hugo.username}’s request` }));
  const { quota, token_api_enabled } = await done(api.GET('/api/user/self'));
  expect({ quota, token_api_enabled }).toEqual({ quota: 5_750_000, token_api_enabled: true });

  await page.goto(`/admin/users/${hugo.id}`);
  const change = page
    .getByRole('table', { name: 'Changes to the wallet' })
    .getByRole('row', { name: 'root' });
  await visible(change.getByText('Welcome.'));
  await page.goto('/admin/requests?state=approved');
  await visible(page.getByRole('listitem').filter({ hasText: hugo.username }).getByText('by root'));
});

test('if only the top-up fails, the dialog says so and tries only that again', async ({
  visit,
  root,
  site,
}) => {
  const hugo = await createUser(root, 'hugo', { token_api_enabled: false, quota: 500_000 });
  const api = await signedIn(site, hugo);
  await done(api.POST('/api/user/token_api_request', { body: { reason: 'For the archive', account: '' } }));
  const page = await visit({
    as: ROOT,
    expected: [/^net::ERR_FAILED POST \/api\/admin\/users/, /^409 POST \/api\/admin\/users/],
  });
  const refusal = { success: false, message: 'the wallet is full', error: 'wallet_out_of_range' };
  let attempts = 0;
  await page.route('**/api/admin/users/*/quota', (route) => {
    attempts += 1;
    if (attempts === 1) return route.fulfill({ status: 409, json: refusal });
    return attempts === 2 ? route.abort('failed') : route.continue();
  });
  const approvals: string[] = [];
  page.on('request', (request) => {
    if (request.url().includes('/token_api_requests/')) approvals.push(request.url());
  });
  await page.goto('/admin/requests');
  await page
    .getByRole('listitem')
    .filter({ hasText: hugo.username })
    .getByRole('button', { name: 'Approve' })
    .click();
  await page.getByRole('dialog').getByLabel('Add to their wallet').fill('10');
  await page.getByRole('dialog').getByRole('button', { name: 'Approve and top up' }).click();
  const dialog = page.getByRole('dialog', { name: `Approved ${hugo.username}’s request` });
  await visible(
    dialog.getByText('The request is approved, but $10.00 was not added to the wallet.'),
    dialog.getByText('It holds $1.00 now.'),
  );
  expect(await violations(dialog)).toEqual([]);
  const retry = dialog.getByRole('button', { name: 'Add $10.00 again' });
  await retry.click();
  await visible(dialog.getByText('it’s not clear whether $10.00 was added'));
  await retry.click();
  await hidden(dialog);
  await visible(page.getByText(`${hugo.username}’s wallet now holds $11.00.`));
  expect({ attempts, approvals: approvals.length }).toEqual({ attempts: 3, approvals: 1 });
});

test('administrators end what stops the keys of others', async ({ visit, root, site }) => {
  const greta = await createUser(root, 'greta', { quota: 250_000 });
  const api = await signedIn(site, greta);
  const poor = await newKey(api, 'Poor');
  const off = await newKey(api, 'Off');
  await done(
    root.POST('/api/admin/tokens/{id}/status', { params: { path: { id: off.id } }, body: { status: 2 } }),
  );
  const limited = await createUser(root, 'linda');
  const { key } = await newKey(await signedIn(site, limited), 'Limited');
  const limit = { period_limits: { week: 1 } };
  await done(root.PATCH('/api/admin/users/{id}', { params: { path: { id: limited.id } }, body: limit }));
  const gateway = await asGateway(site, root);
  await waitPastMidnight();
  const charge = (of: string) => gateway.POST('/api/gateway/charge', { body: { key: of, quota: 500_000 } });
  await Promise.all([charge(poor.key), charge(off.key), charge(key)]);

  const page = await visit({ as: ROOT, path: '/admin' });
  const attention = page.getByRole('region', { name: 'Needs attention' });
  const topUp = attention.getByRole('button', { name: `Top up: ${greta.username}` });
  const enable = attention.getByRole('button', { name: 'Enable: Off' });
  const raise = attention.getByRole('button', { name: `Raise the weekly limit: ${limited.username}` });
  await eventually(async () => {
    await page.goto('/admin');
    await visible(page.getByRole('region', { name: 'Server' }).getByText('Ready', { exact: true }));
    return (await topUp.count()) + (await enable.count()) + (await raise.count());
  }).toBe(3);
  expect(await violations(page.locator('main'))).toEqual([]);
  for (const width of [320, 768, 1024, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    await eventually(() => horizontalOverflow(page)).toBe(0);
  }

  // Their owner sees who can.
  const owner = await visit({ as: greta });
  await visible(
    owner.getByText('Root can enable it.'),
    owner.getByText('An administrator can top up the wallet.'),
  );
  await hidden(owner.getByRole('button', { name: 'Enable: Off' }));

  await topUp.click();
  const wallet = page.getByRole('dialog', { name: `${greta.username}’s wallet` });
  await wallet.getByRole('textbox', { name: 'Amount' }).fill('5');
  await wallet.getByRole('button', { name: 'Change wallet' }).click();
  await hidden(wallet, topUp);

  await enable.click();
  await visible(page.getByText('Enabled 1 key again.'));
  await hidden(enable);

  await raise.click();
  const account = page.getByRole('dialog', { name: limited.username });
  await visible(account);
  await eventually(() => page.evaluate(() => document.activeElement?.getAttribute('data-path'))).toBe(
    'period_limits.week',
  );
  await page.keyboard.press('Escape');
  await hidden(account);
});

test('administrators see which requests were charged their holds, and why', async ({ visit, root, site }) => {
  const greta = await createUser(root, 'greta');
  const { key } = await newKey(await signedIn(site, greta), 'Crawler');
  const gateway = await asGateway(site, root);
  await waitPastMidnight();
  const held = async (model: string, used: object) => {
    const body = { key, model, quota: 1000 };
    const { reservation_id } = await done(gateway.POST('/api/gateway/reserve', { body }));
    await done(gateway.POST('/api/gateway/settle', { body: { reservation_id, ...used } }));
  };
  const [unpriced, miscounted] = [`unpriced-${process.pid}`, `miscounted-${process.pid}`];
  await held(unpriced, { units: { input_tokens: 10 } });
  await held(miscounted, { units: { input_tokens: 1, cache_read_tokens: 2 } });

  const page = await visit({ as: await administrator(root), path: '/admin' });
  const attention = page.getByRole('region', { name: 'Needs attention' });
  const row = (model: string) => attention.getByRole('link', { name: model });
  await visible(
    row(unpriced).getByText(/^1 request charged its hold in the last hour, .+: the model, or a unit/),
    row(miscounted).getByText(/counts that cannot be/),
  );
  expect(await violations(attention)).toEqual([]);
  await row(miscounted).click();
  await visible(page.getByRole('table', { name: 'Requests' }).getByRole('row', { name: miscounted }));
  expect(page.url()).toBe(`${site}/admin/usage/requests?outcome=charged&model=${miscounted}`);
  await page.goBack();
  await row(unpriced).click();
  await visible(page.getByRole('dialog', { name: `Add a price: ${unpriced}` }));
});
