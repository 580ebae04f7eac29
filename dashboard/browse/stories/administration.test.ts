import { expect } from 'vitest';
import { done, newKey, newPerson, ROOT, signedIn } from '../harness/people';
import { gone, see } from '../harness/see';
import { test } from '../harness/test';

test('an administrator makes an account with a password, and its owner signs in with it', async ({
  visit,
}) => {
  const page = await visit({ as: ROOT });
  await page.getByRole('link', { name: 'Users' }).click();
  await page.getByRole('button', { name: 'New user' }).click();
  const form = page.getByRole('dialog', { name: 'New user' });
  const username = `carl-${process.pid}`;
  await form.getByLabel('Username').fill(username);
  await form.getByRole('button', { name: 'Generate' }).click();
  await form.getByLabel('Display name').fill('Carl Friedrich');
  await form.getByLabel('First wallet in US dollars').fill('7.25');
  await form.getByLabel('May make API keys').check();
  await form.getByRole('button', { name: 'Create user' }).click();

  const shown = page.getByRole('dialog', { name: `Password of ${username}` });
  await shown.getByRole('button', { name: 'Copy', exact: true }).click();
  await see(shown.getByRole('button', { name: 'Copied' }));
  const password = await page.evaluate(() => navigator.clipboard.readText());
  await shown.getByRole('button', { name: 'I have kept it' }).click();
  await gone(shown);
  await see(page.getByRole('row', { name: username }).getByText('$7.25'));

  const other = await visit({ as: { username, password } });
  await see(other.getByRole('button', { name: 'Account of Carl Friedrich' }), other.getByText('$7.25'));
});

test('an administrator tops a wallet up', async ({ visit, root }) => {
  const carl = await newPerson(root, 'carl');
  const page = await visit({ as: ROOT });
  await page.goto('/admin/users');
  await page.getByRole('searchbox', { name: 'Search users' }).fill(carl.username);
  const row = page.getByRole('row', { name: carl.username });
  await row.getByRole('button', { name: `Actions for ${carl.username}` }).click();
  await page.getByRole('menuitem', { name: 'Change the wallet…' }).click();

  const dialog = page.getByRole('dialog', { name: `Wallet of ${carl.username}` });
  await dialog.getByLabel('Amount in US dollars').fill('25.5');
  await see(dialog.getByText('$125.50'));
  await dialog.getByRole('button', { name: 'Change the wallet' }).click();
  await see(page.getByText(`${carl.username} has $125.50 now.`), row.getByText('$125.50'));
});

test('somebody asks for access and is refused, asks again and is approved', async ({ visit, root }) => {
  const dina = await newPerson(root, 'dina', { token_api_enabled: false });
  const asking = await visit({ as: dina });
  const answering = await visit({ as: ROOT });
  const ask = async (reason: string) => {
    await asking.getByLabel('Reason').fill(reason);
    await asking.getByRole('button', { name: 'Send request' }).click();
    await see(asking.getByText('Your request is waiting for an administrator'));
  };
  const answer = async (verb: 'Approve' | 'Refuse', note: string) => {
    await answering.goto('/admin/requests');
    const request = answering.getByRole('listitem').filter({ hasText: dina.username });
    await request.getByRole('button', { name: verb }).click();
    const dialog = answering.getByRole('dialog', { name: `${verb} the request of ${dina.username}?` });
    await dialog.getByLabel('Note').fill(note);
    await dialog.getByRole('button', { name: verb }).click();
    await gone(dialog, request);
  };

  await see(asking.getByRole('heading', { name: 'Ask for access' }));
  await ask('For a search of the archive.');
  await answer('Refuse', 'Which archive?');
  await asking.reload();
  await see(asking.getByText('Your request was refused'), asking.getByText('Which archive?'));

  await ask('For a search of the archive of the town.');
  await answer('Approve', 'Welcome.');
  await asking.reload();
  await asking.goto('/');
  await see(asking.getByRole('heading', { name: 'Overview' }));
});

test('an administrator switches somebody’s key off, and the log tells who did it', async ({
  visit,
  root,
  site,
}) => {
  const carl = await newPerson(root, 'carl');
  const name = `Notebook of ${carl.username}`;
  const api = await signedIn(site, carl);
  const { id } = await newKey(api, name);
  const page = await visit({ as: ROOT });

  await page.getByRole('link', { name: 'All keys' }).click();
  await page.getByRole('searchbox', { name: 'Search by name' }).fill(name);
  const row = page.getByRole('row', { name });
  await row.getByRole('switch', { name: `${name} is switched on` }).click();
  await see(row.getByText('Disabled'));
  await expect
    .poll(async () => (await done(api.GET('/api/token/{id}', { params: { path: { id } } }))).status)
    .toBe(2);
  const owner = await visit({ as: carl });
  await owner.goto(`/keys/${id}`);
  await see(owner.getByText('Root switched this key off.'));
  expect(await owner.getByRole('switch', { name: 'Switched on' }).isDisabled()).toBe(true);

  await page.getByRole('link', { name: 'Audit log', exact: true }).click();
  await page.getByRole('combobox', { name: 'Belonging to' }).fill(carl.username);
  await page.getByRole('option', { name: carl.username }).click();
  const off = page.getByRole('row', { name: 'Switched a key off' });
  await see(off.getByText('root'));
  await page.getByRole('combobox', { name: 'Action' }).fill('Made a key');
  await page.getByRole('option', { name: 'Made a key' }).click();
  await gone(off);
  await see(page.getByRole('row', { name: 'Made a key' }).getByText(carl.username).first());
  const address = page.url();
  await page.reload();
  expect(page.url()).toBe(address);
  await see(page.getByRole('row', { name: 'Made a key' }).first());
});

test('a gateway’s credential is replaced without a stop, and all end with the gateway', async ({
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
    await see(shown.getByRole('button', { name: 'Copied' }));
    const credential = await page.evaluate(() => navigator.clipboard.readText());
    await shown.getByRole('button', { name: 'I have kept it' }).click();
    await gone(shown);
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
  const first = await kept(`Credential of ${name}`);
  expect(await verify(first)).toBe(200);

  const row = page.getByRole('row', { name });
  await row.getByRole('button', { name: `New credential of ${name}` }).click();
  const second = await kept(`New credential of ${name}`);
  await see(row.getByText(`…${second.slice(-4)}`), row.getByText('never used'));
  expect(await verify(second)).toBe(200);
  await page.reload();
  await gone(row.getByText('never used'));

  const hint = `…${first.slice(-4)}`;
  await row.getByRole('button', { name: `Revoke the credential ${hint} of ${name}` }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await see(page.getByText(`The credential ${hint} is revoked.`));
  await gone(row.getByText(hint));
  expect([await verify(first), await verify(second)]).toEqual([401, 200]);

  await page.getByRole('button', { name: `Revoke ${name}` }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await see(page.getByText(`${name} is revoked.`));
  expect(await verify(second)).toBe(401);
});

test('the pages of administrators are not for everybody', async ({ visit, root }) => {
  const carl = await newPerson(root, 'carl');
  const page = await visit({ as: carl });
  await see(page.getByRole('heading', { name: 'Overview' }));
  expect(await page.getByRole('link', { name: 'Users' }).count()).toBe(0);
  await page.goto('/admin/users');
  await see(page.getByRole('heading', { name: 'Only for administrators' }));
});
