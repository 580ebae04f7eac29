import type { Page } from '@playwright/test';
import { createUser } from '../harness/accounts';
import { eventually } from '../harness/eventually';
import { tabTo } from '../harness/keyboard';
import { expect, test } from '../harness/test';
import { visible } from '../harness/visibility';

test('a keyboard user signs in and creates a key, and the focus returns', async ({ visit, root }) => {
  const gil = await createUser(root, 'gil');
  const page = await visit();

  await tabTo(page, page.getByRole('textbox', { name: 'Username', exact: true }));
  await page.keyboard.type(gil.username);
  await page.keyboard.press('Tab');
  await page.keyboard.type(gil.password);
  await page.keyboard.press('Enter');
  await visible(page.getByRole('heading', { name: 'Overview' }));

  await tabTo(page, page.getByRole('link', { name: 'Skip to content', exact: true }));
  await visible(page.getByRole('link', { name: 'Skip to content' }));
  await tabTo(page, page.getByRole('link', { name: 'Keys', exact: true }));
  await page.keyboard.press('Enter');
  await visible(page.getByText('No keys yet'));
  await page.keyboard.press('Tab');
  expect(await focused(page)).toBe('Create key');
  await page.keyboard.press('Enter');

  await visible(page.getByRole('dialog', { name: 'Create a key' }));
  await page.keyboard.type('By hand');
  await tabTo(page, page.getByLabel('Dollars in total'));
  await page.keyboard.type('1');
  await page.keyboard.press('Enter');

  const shown = page.getByRole('dialog', { name: 'Your new key' });
  await visible(shown);
  await tabTo(page, page.getByRole('button', { name: 'Done', exact: true }));
  await page.keyboard.press('Enter');
  await visible(page.getByRole('link', { name: 'By hand' }));
  await eventually(() => focused(page)).toBe('Create key');
});

/** The text of the focused element. */
function focused(page: Page): Promise<string> {
  return page.evaluate(() => document.activeElement?.textContent?.trim() ?? '');
}
