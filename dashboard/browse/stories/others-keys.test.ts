import { violations } from '../harness/accessibility';
import { createUser, done, newKey, type Person, ROOT, signedIn } from '../harness/accounts';
import { eventually } from '../harness/eventually';
import { asGateway } from '../harness/gateway';
import { waitPastMidnight } from '../harness/midnight';
import { expect, test } from '../harness/test';
import { hidden, visible } from '../harness/visibility';

const SECRET = /sk-\w{48}/;

test('an administrator creates a key for a user, who alone can read it', async ({ visit, root, site }) => {
  const ada = await createUser(root, 'ada');
  const chief = await createUser(root, 'chief', { role: 10 });
  const page = await visit({ as: chief, path: `/admin/users/${ada.id}` });
  await page.getByRole('button', { name: 'Create key' }).click();
  const form = page.getByRole('dialog', { name: `Create a key for ${ada.username}` });
  await form.getByRole('textbox', { name: 'Name' }).fill('Notebook');
  await form.getByRole('textbox', { name: 'Dollars in total' }).fill('500');
  // Her wallet counts, not that of the administrator.
  await visible(form.getByText('The owner’s wallet holds $100.00.', { exact: false }));
  await form.getByText('Advanced').click();
  await visible(form.getByRole('combobox', { name: 'Group' }));
  expect(await form.getByRole('combobox', { name: 'Group' }).inputValue()).toBe(
    'The owner’s group (default)',
  );
  expect(await violations(form)).toEqual([]);
  await form.getByRole('button', { name: 'Create key' }).click();
  await visible(page.getByText(`Created “Notebook”. Only ${ada.username} can read the key.`));
  await hidden(form);
  await visible(
    page.getByRole('table', { name: 'Keys', exact: true }).getByRole('row', { name: 'Notebook' }),
  );
  expect(await page.locator('body').innerText()).not.toMatch(SECRET);

  const api = await signedIn(site, ada);
  const { items } = await done(api.GET('/api/token/'));
  expect(items.map(({ name, remain_quota }) => [name, remain_quota])).toEqual([['Notebook', 250_000_000]]);
  const owner = await visit({ as: ada, path: '/profile' });
  await visible(owner.getByRole('row', { name: 'Created a key' }).filter({ hasText: chief.username }));
});

test('an administrator edits, replaces and deletes the key of a user', async ({ visit, root, site }) => {
  const ada = await createUser(root, 'ada');
  const api = await signedIn(site, ada);
  const { id, key: first } = await newKey(api, 'Website');
  const page = await visit({ as: ROOT, path: `/admin/tokens/${id}` });
  const read = () => done(api.GET('/api/token/{id}', { params: { path: { id } } }));

  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  const form = page.getByRole('dialog', { name: 'Edit “Website”' });
  await form.getByLabel('Dollars per day').fill('3');
  await form.getByRole('button', { name: 'Save changes' }).click();
  await visible(page.getByText('Key saved.'), page.getByText('$0.00 of $3.00 today'));
  expect((await read()).period_limits.day).toBe(1_500_000);

  const choose = async (item: string) => {
    await page.getByRole('button', { name: 'Actions for Website' }).click();
    await page.getByRole('menuitem', { name: item }).click();
  };
  await choose('Replace key');
  const question = page.getByRole('dialog', { name: 'Replace the key “Website”' });
  await visible(question.getByText(`Only ${ada.username} can read it.`, { exact: false }));
  await question.getByRole('button', { name: 'Replace key' }).click();
  await visible(page.getByText(`Replaced “Website”. Only ${ada.username} can read the new key.`));
  await hidden(question);
  expect(await page.locator('body').innerText()).not.toMatch(SECRET);
  const { key: second } = await read();
  expect([first, second]).toEqual([expect.stringMatching(SECRET), expect.stringMatching(SECRET)]);
  expect(second).not.toBe(first);

  await choose('Delete');
  const warning = page.getByRole('dialog', { name: 'Delete “Website”?' });
  await visible(warning.getByText(`${ada.username} can restore it`, { exact: false }));
  await warning.getByRole('button', { name: 'Delete key' }).click();
  await visible(page.getByText('Deleted “Website”.'), page.getByRole('heading', { name: 'All keys' }));
  const owner = await visit({ as: ada, path: '/keys/deleted' });
  await visible(owner.getByText('Website'));
});

test('somebody else’s change of the key of a user is not overwritten', async ({ visit, root, site }) => {
  const ada = await createUser(root, 'ada');
  const api = await signedIn(site, ada);
  const { id } = await newKey(api, 'Website');
  const page = await visit({
    as: ROOT,
    path: `/admin/tokens/${id}`,
    expected: [/^412 PATCH \/api\/admin\/tokens/],
  });
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  const form = page.getByRole('dialog', { name: 'Edit “Website”' });
  await form.getByRole('textbox', { name: 'Name' }).fill('Shop');
  await done(api.PUT('/api/token/', { body: { id, name: 'Blog' } }));
  await form.getByRole('button', { name: 'Save changes' }).click();
  const conflict = page.getByRole('dialog', { name: 'Someone changed this key' });
  await visible(conflict.getByText('Blog'));
  await conflict.getByRole('button', { name: 'Save mine' }).click();
  await visible(page.getByRole('heading', { name: 'Shop' }));
});

test('administrators change no keys of administrators, nor of users without API access', async ({
  visit,
  root,
  site,
}) => {
  const chief = await createUser(root, 'chief', { role: 10 });
  const other = await createUser(root, 'other', { role: 10 });
  const { id } = await newKey(await signedIn(site, other), 'Theirs');
  const page = await visit({ as: chief, path: `/admin/tokens/${id}` });
  await visible(page.getByRole('heading', { name: 'History' }));
  await page.waitForLoadState('networkidle');
  await hidden(page.getByRole('button', { name: 'Edit', exact: true }));
  const without = async ({ id: user, username }: Person) => {
    await page.goto(`/admin/users/${user}`);
    await visible(page.getByRole('heading', { level: 1, name: username }));
    await page.waitForLoadState('networkidle');
    await hidden(page.getByRole('button', { name: 'Create key' }));
  };
  await without(other);
  await without(await createUser(root, 'carl', { token_api_enabled: false }));
});

test('an administrator raises the limit of a user’s key beside its refusals', async ({
  visit,
  root,
  site,
}) => {
  const ada = await createUser(root, 'ada');
  const name = `Crawler of ${ada.username}`;
  const { key } = await newKey(await signedIn(site, ada), name, { period_limits: { day: 500_000 } });
  const gateway = await asGateway(site, root);
  await waitPastMidnight();
  await gateway.POST('/api/gateway/charge', { body: { key, quota: 600_000 } });
  const page = await visit({ as: ROOT, path: '/admin' });
  const raise = page
    .getByRole('region', { name: 'Needs attention' })
    .getByRole('button', { name: `Raise the daily limit: ${name}` });
  await eventually(async () => {
    await page.goto('/admin');
    await visible(page.getByRole('region', { name: 'Server' }).getByText('Ready', { exact: true }));
    return raise.count();
  }).toBe(1);
  await raise.click();
  const form = page.getByRole('dialog', { name: `Edit “${name}”` });
  await visible(form.getByLabel('Dollars per day'));
  await form.getByLabel('Dollars per day').fill('5');
  await form.getByRole('button', { name: 'Save changes' }).click();
  await hidden(form, raise);
});
