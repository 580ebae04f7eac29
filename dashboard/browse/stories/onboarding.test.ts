import { violations } from '../harness/accessibility';
import { createUser, done, ROOT } from '../harness/accounts';
import { asGateway } from '../harness/gateway';
import { waitPastMidnight } from '../harness/midnight';
import { expect, test } from '../harness/test';
import { hidden, visible } from '../harness/visibility';

test('a new user follows the first steps, which disappear after the first request', async ({
  visit,
  root,
  site,
}) => {
  const nia = await createUser(root, 'nia');
  const page = await visit({ as: nia });
  const steps = page.getByRole('region', { name: 'Get started' });
  await visible(steps.getByText('0 of 3 done'));
  expect(await violations(steps)).toEqual([]);

  await steps.getByRole('link', { name: 'Create a key' }).click();
  const form = page.getByRole('dialog', { name: 'Create a key' });
  await form.getByLabel('Name').fill('First');
  await form.getByLabel('Dollars in total').fill('5');
  await form.getByRole('button', { name: 'Create key' }).click();
  const shown = page.getByRole('dialog', { name: 'Your new key' });
  const key = await shown.getByText(/^sk-\w{48}$/).innerText();
  await shown.getByRole('button', { name: 'Done' }).click();
  await page.goto('/');
  await visible(steps.getByText('1 of 3 done'));

  // Reading the key back is how it is copied later.
  await steps.getByRole('link', { name: 'Open your keys' }).click();
  await page.getByRole('button', { name: 'Actions for First' }).click();
  await page.getByRole('menuitem', { name: 'Copy key' }).click();
  await visible(page.getByText('Copied the key “First”'));
  await page.getByRole('link', { name: 'Overview' }).click();
  await visible(steps.getByText('2 of 3 done'), page.getByRole('heading', { name: 'Spend by day' }));

  const gateway = await asGateway(site, root);
  await waitPastMidnight();
  await done(gateway.POST('/api/gateway/charge', { body: { key, quota: 1_000 } }));
  await page.reload();
  await visible(page.getByRole('heading', { name: 'Spend by day' }));
  await hidden(steps);
});

test('a new key that is copied at once is a step', async ({ visit, root }) => {
  const page = await visit({ as: await createUser(root, 'nia'), path: '/keys?create' });
  const form = page.getByRole('dialog', { name: 'Create a key' });
  await form.getByLabel('Name').fill('First');
  await form.getByLabel('Dollars in total').fill('5');
  await form.getByRole('button', { name: 'Create key' }).click();
  const shown = page.getByRole('dialog', { name: 'Your new key' });
  await shown.getByRole('button', { name: 'Copy', exact: true }).click();
  await page.goto('/');
  await visible(page.getByRole('region', { name: 'Get started' }).getByText('2 of 3 done'));
});

test('the first steps stay away once they are dismissed, for this user alone', async ({ visit, root }) => {
  const nia = await createUser(root, 'nia');
  const page = await visit({ as: nia });
  const steps = page.getByRole('region', { name: 'Get started' });
  await steps.getByRole('button', { name: 'Hide these steps' }).click();
  await hidden(steps);
  await page.reload();
  await visible(page.getByText('Create your first key'));
  await hidden(steps);

  const { username, password } = await createUser(root, 'nia');
  await page.context().clearCookies();
  await page.context().request.post('/api/user/login', { data: { username, password } });
  await page.goto('/');
  await visible(steps);
});

test('an administrator sees what a new installation still needs', async ({ visit, root, site }) => {
  await asGateway(site, root);
  await createUser(root, 'nia');
  const page = await visit({ as: ROOT });
  const steps = page.getByRole('region', { name: 'Set up Keymeter' });
  // Groups and models are settings.
  await visible(steps.getByText('2 of 4 done'), steps.getByText('Define groups'));
  await visible(steps.getByRole('listitem').filter({ hasText: 'Connect your gateway' }).getByText('(done)'));
  await hidden(steps.getByRole('link', { name: 'Add a gateway' }));
  expect(await violations(steps)).toEqual([]);
  await steps.getByRole('button', { name: 'Hide these steps' }).click();
  await page.reload();
  await visible(page.getByRole('heading', { name: 'Overview' }), page.getByText('Create your first key'));
  await hidden(steps);
});
