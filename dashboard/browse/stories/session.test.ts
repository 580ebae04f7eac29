import { expect } from 'vitest';
import { createUser, newKey, signedIn } from '../harness/accounts';
import { test } from '../harness/test';
import { visible } from '../harness/visibility';

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
  await page.goto('/keys?status=1');
  await visible(page.getByRole('heading', { name: 'Sign in' }));
  await page.getByLabel('Username').fill(eva.username);
  await page.getByRole('textbox', { name: 'Password' }).fill(eva.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await visible(page.getByRole('heading', { name: 'Keys' }), page.getByRole('link', { name: 'Website' }));
  expect(page.url()).toBe(`${site}/keys?status=1`);
});

test('a session that ends in use redirects on the next click', async ({ visit, root, site }) => {
  const eva = await createUser(root, 'eva');
  await newKey(await signedIn(site, eva), 'Website');
  const page = await visit({ as: eva, expected: [/^401 /] });
  await page.getByRole('link', { name: 'Keys', exact: true }).click();
  await visible(page.getByRole('link', { name: 'Website' }));

  await page.context().clearCookies();
  await page.getByRole('switch', { name: 'Website enabled' }).click();
  await visible(page.getByRole('heading', { name: 'Sign in' }));
  expect(page.url()).toBe(`${site}/sign-in?next=%2Fkeys`);
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
