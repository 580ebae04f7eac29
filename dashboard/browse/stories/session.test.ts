import { violations } from '../harness/accessibility';
import { createUser, newKey, ROOT, signedIn } from '../harness/accounts';
import { eventually } from '../harness/eventually';
import { expect, test } from '../harness/test';
import { hidden, visible } from '../harness/visibility';

test('an ended session redirects to the sign-in page, which leads back to the same page', async ({
  visit,
  root,
  site,
}) => {
  const eva = await createUser(root, 'eva');
  await newKey(await signedIn(site, eva), 'Website');
  const page = await visit({ as: eva, expected: [/^401 /] });
  await visible(page.getByRole('heading', { name: 'Overview' }));

  await page.context().clearCookies();
  await page.goto('/keys?state=working');
  await visible(page.getByRole('heading', { name: 'Sign in' }));
  await page.getByLabel('Username').fill(eva.username);
  await page.getByRole('textbox', { name: 'Password' }).fill(eva.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await visible(page.getByRole('heading', { name: 'Keys' }), page.getByRole('link', { name: 'Website' }));
  expect(page.url()).toBe(`${site}/keys?state=working`);
});

test('a session that ends in use is continued in a dialog, and the form keeps its input', async ({
  visit,
  root,
  site,
}) => {
  const eva = await createUser(root, 'eva');
  const { id } = await newKey(await signedIn(site, eva), 'Website');
  const page = await visit({ as: eva, expected: [/^401 /], path: `/keys/${id}` });
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  const form = page.getByRole('dialog', { name: 'Edit “Website”' });
  await form.getByLabel('Name').fill('Website of the shop');

  await page.context().clearCookies();
  await form.getByRole('button', { name: 'Save changes' }).click();
  const again = page.getByRole('dialog', { name: 'Sign in again' });
  await visible(again.getByText(eva.username));
  const password = again.getByRole('textbox', { name: 'Password' });
  await eventually(() => password.evaluate((input) => input === document.activeElement)).toBe(true);
  await page.keyboard.press('Escape');
  await password.fill('not-this-one');
  await again.getByRole('button', { name: 'Sign in' }).click();
  await visible(again.getByRole('alert'));
  expect(await violations(again)).toEqual([]);

  await password.fill(eva.password);
  await again.getByRole('button', { name: 'Sign in' }).click();
  await hidden(again);
  expect(await form.getByLabel('Name').inputValue()).toBe('Website of the shop');
  await form.getByRole('button', { name: 'Save changes' }).click();
  await visible(page.getByRole('heading', { name: 'Website of the shop' }));
});

test('after the end of a session, another account can sign in', async ({ visit, root, site }) => {
  const eva = await createUser(root, 'eva');
  const eve = await createUser(root, 'eve');
  await newKey(await signedIn(site, eva), 'Website');
  const page = await visit({ as: eva, expected: [/^401 /] });
  await page.getByRole('link', { name: 'Keys', exact: true }).click();
  await visible(page.getByRole('link', { name: 'Website' }));

  await page.context().clearCookies();
  await page.getByRole('switch', { name: 'Allow requests with Website' }).click();
  await page.getByRole('button', { name: 'Use another account' }).click();
  await visible(page.getByRole('heading', { name: 'Sign in' }));
  expect(page.url()).toBe(`${site}/sign-in`);
  await page.getByLabel('Username').fill(eve.username);
  await page.getByRole('textbox', { name: 'Password' }).fill(eve.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await visible(page.getByRole('button', { name: `Account: ${eve.username}` }));
  await page.getByRole('link', { name: 'Keys', exact: true }).click();
  await visible(page.getByText('No keys yet'));
});

test('a wrong password shows an error and keeps the username', async ({ visit, root }) => {
  const eva = await createUser(root, 'eva');
  const page = await visit({ expected: [/^401 POST \/api\/user\/login$/] });
  await page.getByLabel('Username').fill(eva.username);
  await page.getByRole('textbox', { name: 'Password' }).fill('not-this-one');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await visible(page.getByRole('alert'));
  expect(await page.getByRole('alert').innerText()).toMatch(/password/i);
  expect(await page.getByLabel('Username').inputValue()).toBe(eva.username);
});

test('an administrator who asks for no page begins at the overview of all users', async ({ visit, site }) => {
  const page = await visit();
  await page.getByLabel('Username').fill(ROOT.username);
  await page.getByRole('textbox', { name: 'Password' }).fill(ROOT.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await visible(page.getByRole('heading', { name: 'Admin overview' }));
  expect(page.url()).toBe(`${site}/admin`);
});
