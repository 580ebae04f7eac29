import { test } from '../harness/test';
import { visible } from '../harness/visibility';

test('with open registration, a visitor registers and is asked to request access', async ({ visit }) => {
  const page = await visit();
  await page.getByRole('link', { name: 'Create one' }).click();
  await visible(page.getByRole('heading', { name: 'Create an account' }));
  await page.getByLabel('Username').fill(`ida-${process.pid}`);
  await page.getByLabel('Email address').fill('ida@example.org');
  await page.getByRole('textbox', { name: 'Password' }).fill('a-long-enough-one');
  await page.getByRole('button', { name: 'Create account' }).click();
  await visible(page.getByRole('heading', { name: 'API access' }), page.getByLabel('Reason'));
});
