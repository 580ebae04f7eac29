import { en } from '../../src/texts/en';
import { violations } from '../harness/accessibility';
import { createUser, done, newKey, ROOT, signedIn } from '../harness/accounts';
import { eventually } from '../harness/eventually';
import { expect, test } from '../harness/test';
import { hidden, visible } from '../harness/visibility';

test('an administrator creates an account, and its owner signs in', async ({ visit, site }) => {
  const page = await visit({ as: ROOT });
  await page.getByRole('link', { name: 'Users' }).click();
  await page.getByRole('button', { name: 'New user' }).click();
  const form = page.getByRole('dialog', { name: 'New user' });
  const username = `carl-${process.pid}`;
  await form.getByLabel('Username').fill(username);
  await form.getByRole('button', { name: 'Generate' }).click();
  await form.getByRole('button', { name: 'Copy password' }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
    await form.getByLabel('Password', { exact: true }).inputValue(),
  );
  await form.getByLabel('Display name').fill('Carl Friedrich');
  await form.getByLabel('Starting balance (USD)').fill('7.25');
  await form.getByLabel('Can create API keys').check();
  await form.getByLabel('Dollars per week').fill('20');
  await form.getByRole('button', { name: 'Create user' }).click();

  const shown = page.getByRole('dialog', { name: `Sign-in details for ${username}` });
  await visible(shown.getByText('It is shown only once'));
  await shown.getByRole('button', { name: 'Copy', exact: true }).click();
  await visible(shown.getByRole('button', { name: 'Copied' }));
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toMatch(new RegExp(`^Address: ${site}\nUsername: ${username}\nPassword: \\S+$`));
  const password = copied.split('Password: ')[1] ?? '';
  await shown.getByRole('button', { name: 'Done' }).click();
  await hidden(shown);
  const created = page.getByRole('row', { name: username });
  await visible(created.getByText('$7.25'), created.getByText('$0.00 of $20.00 this week'));

  const other = await visit({ as: { username, password } });
  await visible(other.getByRole('button', { name: 'Account: Carl Friedrich' }), other.getByText('$7.25'));
});

test('an administrator adds to a wallet', async ({ visit, root }) => {
  const carl = await createUser(root, 'carl');
  const page = await visit({ as: ROOT, path: '/admin/users' });
  await page.getByRole('searchbox', { name: 'Search users' }).fill(carl.username);
  const row = page.getByRole('row', { name: carl.username });
  await row.getByRole('button', { name: `Actions for ${carl.username}` }).click();
  await page.getByRole('menuitem', { name: 'Change wallet…' }).click();

  const dialog = page.getByRole('dialog', { name: `${carl.username}’s wallet` });
  await dialog.getByLabel('Amount (USD)').fill('25.5');
  await visible(dialog.getByText('$125.50'));
  await dialog.getByRole('button', { name: 'Change wallet' }).click();
  await visible(page.getByText(`${carl.username}’s wallet now holds $125.50.`), row.getByText('$125.50'));
});

test('the dialog for a new password begins in its field', async ({ visit, root }) => {
  const carl = await createUser(root, 'carl');
  const page = await visit({ as: ROOT, path: `/admin/users?keyword=${carl.username}` });
  await page.getByRole('button', { name: `Actions for ${carl.username}` }).click();
  await page.getByRole('menuitem', { name: 'Set password…' }).click();
  const dialog = page.getByRole('dialog', { name: `Set a password for ${carl.username}` });
  const field = dialog.getByRole('textbox', { name: 'Password' });
  await eventually(() => field.evaluate((input) => input === document.activeElement)).toBe(true);
});

test('an administrator limits what an account spends in a month', async ({ visit, root, site }) => {
  const carl = await createUser(root, 'carl');
  const page = await visit({ as: ROOT, path: '/admin/users' });
  await page.getByRole('searchbox', { name: 'Search users' }).fill(carl.username);
  const row = page.getByRole('row', { name: carl.username });
  await row.getByRole('button', { name: `Actions for ${carl.username}` }).click();
  await page.getByRole('menuitem', { name: 'Edit…' }).click();

  const dialog = page.getByRole('dialog', { name: `Edit ${carl.username}` });
  await dialog.getByRole('button', { name: '$50 a month' }).click();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await hidden(dialog);
  await visible(row.getByText('$0.00 of $50.00 this month'));
  const { period_limits } = await done((await signedIn(site, carl)).GET('/api/user/self'));
  expect(period_limits).toEqual({ day: -1, week: -1, month: 25_000_000 });

  const owner = await visit({ as: carl });
  await visible(owner.getByText('$0.00 of $50.00 this month'));

  const { id } = await newKey(await signedIn(site, carl), 'Notebook');
  const nothing = { params: { path: { id: carl.id } }, body: { period_limits: { week: 0 } } };
  await done(root.PATCH('/api/admin/users/{id}', nothing));
  await owner.goto(`/keys/${id}`);
  await visible(owner.getByText('Your account has reached a limit.'));
  expect(await violations(owner.locator('main'))).toEqual([]);
});

test('the group of an account is one of the settings, and a refusal is at its field', async ({
  visit,
  root,
}) => {
  const carl = await createUser(root, 'carl');
  const page = await visit({
    as: ROOT,
    path: `/admin/users?keyword=${carl.username}`,
    expected: [/^400 PATCH \/api\/admin\/users/],
  });
  await page.getByRole('button', { name: `Actions for ${carl.username}` }).click();
  await page.getByRole('menuitem', { name: 'Edit…' }).click();
  const dialog = page.getByRole('dialog', { name: `Edit ${carl.username}` });
  const group = dialog.getByRole('combobox', { name: 'Group' });
  await group.click();
  expect(await page.getByRole('option').allInnerTexts()).toEqual(['default']);
  await page.getByRole('option', { name: 'default' }).click();

  // The settings changed after the page was loaded.
  const refusal = { success: false, message: '`group` must be one of vip', error: 'invalid_group' };
  await page.route('**/api/admin/users/*', (route) => route.fulfill({ status: 400, json: refusal }));
  await dialog.getByLabel('Display name').fill('Carl');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await visible(dialog.getByText('This group isn’t available. Choose another one.', { exact: true }));
  await eventually(() => group.evaluate((input) => input === document.activeElement)).toBe(true);
});

test('a user requests access, is refused, requests again and is approved', async ({ visit, root }) => {
  const dina = await createUser(root, 'dina', { token_api_enabled: false });
  const asking = await visit({ as: dina });
  const answering = await visit({ as: ROOT });
  const ask = async (reason: string) => {
    await asking.getByLabel('Reason').fill(reason);
    await asking.getByRole('button', { name: 'Send request' }).click();
    await visible(asking.getByText('Your request is waiting for an administrator'));
  };
  const answer = async (verb: 'Approve' | 'Refuse', note: string) => {
    await answering.goto('/admin/requests');
    const request = answering.getByRole('listitem').filter({ hasText: dina.username });
    await request.getByRole('button', { name: verb }).click();
    const dialog = answering.getByRole('dialog', { name: `${verb} ${dina.username}’s request?` });
    await dialog.getByLabel('Note').fill(note);
    await dialog.getByRole('button', { name: verb }).click();
    await hidden(dialog, request);
  };

  await visible(asking.getByRole('heading', { name: 'Request access' }));
  await ask('For a search of the archive.');
  await answer('Refuse', 'Which archive?');
  await asking.reload();
  await visible(asking.getByText('Your request was refused'), asking.getByText('Which archive?'));

  await ask('For a search of the archive of the town.');
  await answer('Approve', 'Welcome.');
  await asking.reload();
  await asking.goto('/');
  await visible(asking.getByRole('heading', { name: 'Overview' }));
});

test('root disables the key of a user, and the audit log shows who did it', async ({ visit, root, site }) => {
  const carl = await createUser(root, 'carl');
  const name = `Notebook of ${carl.username}`;
  const api = await signedIn(site, carl);
  const { id } = await newKey(api, name);
  const page = await visit({ as: ROOT });

  await page.getByRole('link', { name: 'All keys', exact: true }).click();
  await page.getByRole('searchbox', { name: 'Search by name' }).fill(name);
  // A row, or a card if names are long.
  const row = page.getByRole('row', { name }).or(page.getByRole('listitem').filter({ hasText: name }));
  await row.getByRole('switch', { name: `Allow requests with ${name}` }).click();
  await visible(row.getByText('Disabled', { exact: true }));
  await eventually(
    async () => (await done(api.GET('/api/token/{id}', { params: { path: { id } } }))).status,
  ).toBe(2);
  const owner = await visit({ as: carl, path: `/keys/${id}` });
  await visible(owner.getByText('Root disabled this key.'));
  expect(await owner.getByRole('switch', { name: 'Allow requests' }).isDisabled()).toBe(true);

  await page.getByRole('link', { name: 'Audit log', exact: true }).click();
  await page.getByRole('combobox', { name: 'Owner' }).fill(carl.username);
  await page.getByRole('option', { name: carl.username }).click();
  const off = page.getByRole('row', { name: 'Disabled a key' });
  await visible(off.getByText('root'));
  await page.getByRole('combobox', { name: 'Action' }).fill('Created a key');
  await page.getByRole('option', { name: 'Created a key' }).click();
  await hidden(off);
  await visible(page.getByRole('row', { name: 'Created a key' }).getByText(carl.username).first());
  const address = page.url();
  await page.reload();
  expect(page.url()).toBe(address);
  await visible(page.getByRole('row', { name: 'Created a key' }).first());
});

test('a gateway credential is replaced without downtime, and removing the gateway ends all', async ({
  visit,
  site,
}) => {
  const page = await visit({ as: ROOT });
  await page.getByRole('link', { name: 'Gateways' }).click();
  await page.getByRole('button', { name: 'New gateway' }).first().click();
  const name = `proxy-${process.pid}`;
  const form = page.getByRole('dialog', { name: 'New gateway' });
  await form.getByLabel('Name').fill(name);
  await form.getByRole('button', { name: 'Create gateway' }).click();

  const kept = async (title: string) => {
    const shown = page.getByRole('dialog', { name: title, exact: true });
    await shown.getByRole('button', { name: 'Copy', exact: true }).click();
    await visible(shown.getByRole('button', { name: 'Copied' }));
    const credential = await page.evaluate(() => navigator.clipboard.readText());
    await shown.getByRole('button', { name: 'Done' }).click();
    await hidden(shown);
    return credential;
  };
  const verify = async (credential: string) => {
    const headers = { authorization: `Bearer ${credential}`, 'content-type': 'application/json' };
    const answer = await fetch(`${site}/api/gateway/verify`, {
      method: 'POST',
      headers,
      body: '{"key":"sk-x"}',
    });
    return answer.status;
  };
  const first = await kept(`Credential for ${name}`);
  expect(await verify(first)).toBe(200);

  const row = page.getByRole('row', { name });
  await row.getByRole('button', { name: `New credential for ${name}` }).click();
  const second = await kept(`New credential for ${name}`);
  await visible(row.getByText(`…${second.slice(-4)}`), row.getByText('never used'));
  expect(await verify(second)).toBe(200);
  await page.reload();
  await hidden(row.getByText('never used'));

  const hint = `…${first.slice(-4)}`;
  await row.getByRole('button', { name: `Revoke credential ${hint} of ${name}` }).click();
  const revoking = page.getByRole('dialog', { name: `Revoke credential ${hint} of ${name}?` });
  await visible(revoking.getByText('The gateway’s other credentials keep working.'));
  await revoking.getByRole('button', { name: 'Revoke credential' }).click();
  await visible(page.getByText(`Revoked credential ${hint}.`));
  await hidden(row.getByText(hint));
  expect([await verify(first), await verify(second)]).toEqual([401, 200]);

  await page.getByRole('button', { name: `Remove gateway ${name}` }).click();
  const removing = page.getByRole('dialog', { name: `Remove gateway ${name}?` });
  await visible(removing.getByText('it can no longer check or charge keys'));
  await removing.getByRole('button', { name: 'Remove gateway' }).click();
  await visible(page.getByText(`Removed ${name}.`));
  expect(await verify(second)).toBe(401);
});

test('users cannot open the pages of administrators', async ({ visit, root }) => {
  const carl = await createUser(root, 'carl');
  const page = await visit({ as: carl });
  await visible(page.getByRole('heading', { name: 'Overview' }));
  expect(await page.getByRole('link', { name: 'Users' }).count()).toBe(0);
  await page.goto('/admin/users');
  await visible(
    page.getByRole('heading', { name: 'Administrators only' }),
    page.getByRole('main').getByRole('link', { name: en.shell.notFound.home }),
  );
});
