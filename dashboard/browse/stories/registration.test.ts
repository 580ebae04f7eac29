import { test } from '../harness/test';
import { visible } from '../harness/visibility';

test('where accounts are open to all, somebody makes one and is led to ask for access', async ({ visit }) => {
  const page = await visit();
  await page.getByRole('link', { name: 'Create one' }).click();
  await visible(page.getByRole('heading', { name: 'Create an account' }));
  await page.getByLabel('Username').fill(`ida-${process.pid}`);
  await page.getByLabel('Email address').fill('ida@example.org');
  await page.getByRole('textbox', { name: 'Password' }).fill('a-long-enough-one');
  await page.getByRole('button', { name: 'Create account' }).click();
  await visible(page.getByRole('heading', { name: 'API access' }), page.getByLabel('Reason'));
});
