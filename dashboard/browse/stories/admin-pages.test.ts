import { requestLimits } from '../../src/api/serverLimits';
import { violations } from '../harness/accessibility';
import { createUser, done, newKey, ROOT, signedIn } from '../harness/accounts';
import { eventually } from '../harness/eventually';
import { asGateway } from '../harness/gateway';
import { waitPastMidnight } from '../harness/midnight';
import { exported, showTable } from '../harness/pages';
import { expect, test } from '../harness/test';
import { hidden, visible } from '../harness/visibility';
import { PASSWORD } from '../server/Server';

test('the page of a user has the wallet with its history, keys, spend and activity', async ({
  visit,
  root,
  site,
}) => {
  const ines = await createUser(root, 'ines');
  const { key } = await newKey(await signedIn(site, ines), 'Crawler');
  await waitPastMidnight();
  await done((await asGateway(site, root)).POST('/api/gateway/charge', { body: { key, quota: 750_000 } }));
  const page = await visit({ as: ROOT, path: `/admin/users?keyword=${ines.username}` });
  await page.getByRole('link', { name: ines.username }).click();
  await visible(page.getByRole('heading', { level: 1, name: ines.username }));
  await visible(page.getByText('$98.50'), page.getByText('1 request', { exact: true }));
  await visible(
    page
      .getByRole('table', { name: 'Done by this user' })
      .getByRole('row', { name: 'Created a key' })
      .first(),
  );

  await page.getByRole('button', { name: 'Change wallet' }).click();
  const dialog = page.getByRole('dialog', { name: `${ines.username}’s wallet` });
  await dialog.getByLabel('Amount (USD)').fill('1.50');
  await dialog.getByLabel('Note').fill('Refund for May');
  await dialog.getByRole('button', { name: 'Change wallet' }).click();
  await hidden(dialog);
  const change = page
    .getByRole('table', { name: 'Changes to the wallet' })
    .getByRole('row', { name: 'root' })
    .filter({ hasText: 'Refund for May' });
  await visible(change.getByText('+$1.50'), change.getByText('$98.50'), change.getByText('$100.00'));
  const changes = page.getByRole('table', { name: 'Changes to this user and their keys' });
  await visible(changes.getByRole('row', { name: 'Changed a wallet' }).filter({ hasText: 'root' }).first());
  // The balance that the account began with is a line too.
  await visible(page.getByRole('table', { name: 'Changes to the wallet' }).getByText('+$100.00'));
  expect(await violations(page.locator('main'))).toEqual([]);

  const keys = page.getByRole('table', { name: 'Keys' });
  await visible(keys.getByText('$1.50 used'));
  await keys.getByRole('link', { name: 'Crawler', exact: true }).click();
  await visible(page.getByRole('heading', { level: 1, name: 'Crawler' }));
  await page.getByRole('link', { name: ines.username }).first().click();
  await page.getByRole('button', { name: `Actions for ${ines.username}` }).click();
  await page.getByRole('menuitem', { name: 'Delete…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await visible(page.getByRole('heading', { level: 1, name: 'Users' }));
  expect(page.url()).toBe(`${site}/admin/users`);
});

test('administrators disable a key on its page, which shows its history and never the key', async ({
  visit,
  root,
  site,
}) => {
  const ines = await createUser(root, 'ines');
  const { id, masked_key } = await newKey(await signedIn(site, ines), 'Crawler', { group: '' });
  const page = await visit({ as: ROOT, path: `/admin/tokens?user_id=${ines.id}` });
  await page.getByRole('link', { name: 'Crawler', exact: true }).click();
  expect(page.url()).toBe(`${site}/admin/tokens/${id}`);
  await visible(page.getByText(masked_key), page.getByText('The owner’s group'));
  await hidden(page.getByRole('button', { name: 'Show key' }));
  await page.getByRole('switch', { name: 'Allow requests' }).click();
  const history = page.getByRole('table', { name: 'History' });
  await visible(
    page.getByText('Disabled', { exact: true }),
    history.getByRole('row', { name: 'Disabled a key' }),
  );
  expect(await violations(page.locator('main'))).toEqual([]);
  await page.getByRole('switch', { name: 'Allow requests' }).click();
  await visible(history.getByRole('row', { name: 'Enabled a key' }));

  await page.getByRole('link', { name: 'Audit log' }).last().click();
  const entry = page.getByRole('row', { name: 'Disabled a key' });
  await visible(entry);
  await entry.getByRole('link', { name: 'Crawler' }).click();
  await visible(page.getByRole('heading', { level: 1, name: 'Crawler' }));
});

test('what does not exist has a page that leads to the audit log', async ({ visit }) => {
  const page = await visit({
    as: ROOT,
    expected: [/^404 GET \/api\/admin\/(users|tokens)\/99/],
    path: '/admin/users/99999',
  });
  await visible(page.getByText('User not found'));
  await page.getByRole('link', { name: 'Open the audit log' }).click();
  await visible(page.getByRole('heading', { level: 1, name: 'Audit log' }));
  expect(page.url()).toContain('/admin/audit?user_id=99999');
  await page.goto('/admin/tokens/99999');
  await visible(page.getByText('Key not found'));
  await page.goto('/admin/tokens/x');
  await visible(page.getByText('Key not found'));
});

test('the usage of everyone is split by users, keys and gateways, and has a filter by user and an export', async ({
  visit,
  root,
  site,
}) => {
  const ines = await createUser(root, 'ines', { quota: 900_000_000 });
  const { key } = await newKey(await signedIn(site, ines), 'Crawler', { remain_quota: 900_000_000 });
  await waitPastMidnight();
  const gateway = await asGateway(site, root);
  await done(gateway.POST('/api/gateway/charge', { body: { key, quota: 800_000_000 } }));
  const page = await visit({ as: ROOT });
  await page.getByRole('link', { name: 'Usage by everyone' }).click();
  const users = page.getByRole('table', { name: 'Users by spend' });
  const keys = page.getByRole('table', { name: 'Keys by spend' });
  const splits = page.getByRole('radiogroup', { name: 'Split by' });
  await splits.getByText('User').click();
  await visible(users.getByRole('link', { name: ines.username }));
  expect(await violations(page.locator('main'))).toEqual([]);
  await splits.getByText('Key').click();
  await visible(keys.getByRole('row', { name: ines.username }).getByRole('link', { name: 'Crawler' }));

  await page.getByRole('combobox', { name: 'User' }).fill(ines.username);
  await page.getByRole('option', { name: ines.username }).click();
  await hidden(splits.getByText('User'));
  await showTable(page);
  await visible(page.getByRole('row', { name: 'Total' }).getByText('$1,600.00'));
  await eventually(() => keys.getByRole('row').count()).toBe(2);
  expect(page.url()).toBe(`${site}/admin/usage?by=token&user_id=${ines.id}`);

  const lines = await exported(page, 'CSV by day and key');
  expect(lines[0]).toContain('username');
  expect(lines).toHaveLength(2);
  const bill = await exported(page, 'CSV by month, user, group and model');
  expect(bill[0]).toContain('month,user_id,username,display_name,email,group,model,');
  expect(bill).toHaveLength(2);

  await splits.getByText('Gateway').click();
  const gateways = page.getByRole('table', { name: 'Gateways by spend' });
  await visible(gateways.getByRole('row').getByText('$1,600.00').first());
  expect(await exported(page, 'CSV by day and gateway')).toHaveLength(2);
  await splits.getByText('Group').click();
  const groups = page.getByRole('table', { name: 'Groups by spend' });
  await visible(groups.getByRole('row', { name: 'default' }).getByText('$1,600.00').first());
  // The chart and its table are pale while they load.
  await eventually(() => violations(page.locator('main'))).toEqual([]);
});

test('the list of users has a filter and an order in its address', async ({ visit, root, site }) => {
  const prefix = `jo${process.pid}`;
  const poor = await createUser(root, `${prefix}-poor`, { quota: 1 });
  const rich = await createUser(root, `${prefix}-rich`, { quota: 2 });
  const off = await createUser(root, `${prefix}-off`, { quota: 0 });
  const path = { params: { path: { id: off.id } }, body: { status: 2 } };
  await done(root.PATCH('/api/admin/users/{id}', path));
  const page = await visit({ as: ROOT, path: `/admin/users?keyword=${prefix}` });
  const names = () => page.getByRole('table', { name: 'Users' }).getByRole('link').allInnerTexts();
  const byWallet = page.getByRole('columnheader', { name: 'Wallet' });
  await byWallet.getByRole('button').click();
  await eventually(names).toEqual([off.username, poor.username, rich.username]);
  expect(await byWallet.getAttribute('aria-sort')).toBe('ascending');
  await page.getByRole('combobox', { name: 'Status' }).click();
  await page.getByRole('option', { name: 'Enabled' }).click();
  await eventually(names).toEqual([poor.username, rich.username]);
  expect(page.url()).toBe(`${site}/admin/users?keyword=${prefix}&sort=lowest_wallet&status=1`);
  await byWallet.getByRole('button').click();
  await eventually(names).toEqual([rich.username, poor.username]);
});

test('administrators choose the group and the number of keys on a page', async ({ visit, root, site }) => {
  const mia = await createUser(root, 'mia');
  const api = await signedIn(site, mia);
  for (let key = 1; key <= 21; key += 1) await newKey(api, `Key ${key}`);
  await newKey(api, 'Any', { group: 'auto' });
  const page = await visit({ as: ROOT });
  await page.route('**/api/admin/settings', async (route) => {
    const answer = await (await route.fetch()).json();
    const [first] = answer.data.groups;
    answer.data.groups = [first, { ...first, name: 'batch' }];
    await route.fulfill({ json: answer });
  });
  await page.goto(`/admin/tokens?user_id=${mia.id}&page=2`);
  await visible(page.getByText('21–22 of 22'));
  await page.getByRole('combobox', { name: 'Rows per page' }).click();
  await page.getByRole('option', { name: '50 per page' }).click();
  await visible(page.getByText('1–22 of 22'));
  expect(page.url()).toBe(`${site}/admin/tokens?user_id=${mia.id}`);
  await page.getByRole('combobox', { name: 'Group' }).click();
  await page.getByRole('option', { name: 'Automatic' }).click();
  await hidden(page.getByRole('link', { name: 'Key 21', exact: true }));
  await visible(page.getByRole('link', { name: 'Any', exact: true }));
  expect(page.url()).toBe(`${site}/admin/tokens?user_id=${mia.id}&group=auto`);
});

test('a name of 50 characters without a break widens no list', async ({ visit, root, site }) => {
  const prefix = `wolfeschlegelsteinhausenbergerdorff_of_${process.pid}`;
  const name = prefix.padEnd(requestLimits.NewUserBody.username.maxLength, 'x');
  await createUser(root, 'short', { username: name, display_name: name });
  const account = { username: name, password: PASSWORD };
  const { key } = await newKey(await signedIn(site, account), name);
  const gateway = await asGateway(site, root, name);
  await waitPastMidnight();
  await done(gateway.POST('/api/gateway/charge', { body: { key, quota: 1, model: name + name } }));
  const page = await visit({ as: ROOT });
  await page.setViewportSize({ width: 1440, height: 900 });
  for (const path of ['users', `tokens?keyword=${prefix}`, 'gateways', 'audit', 'usage']) {
    await page.goto(`/admin/${path}`);
    const cells = page.locator('td').filter({ hasText: name });
    await visible(cells.first());
    const widths = await cells.evaluateAll((found) =>
      found.map((cell) => {
        const { scrollWidth = 0, clientWidth = 0 } = cell.closest('table')?.parentElement ?? {};
        return scrollWidth - clientWidth;
      }),
    );
    expect(Math.max(...widths), path).toBe(0);
  }
});
