import { createUser } from '../harness/accounts';
import { eventually } from '../harness/eventually';
import { openNextPage, openPage, PAGES } from '../harness/pages';
import { expect, test } from '../harness/test';
import { hidden, visible } from '../harness/visibility';

test('a user signs in, creates a key, copies it and opens its row in a new tab', async ({ visit, root }) => {
  const ada = await createUser(root, 'ada');
  const page = await visit({ path: '/keys' });
  await page.getByLabel('Username').fill(ada.username);
  await page.getByRole('textbox', { name: 'Password' }).fill(ada.password);
  await page.getByRole('button', { name: 'Sign in' }).click();

  await page.getByRole('button', { name: 'Create key' }).first().click();
  const form = page.getByRole('dialog', { name: 'Create a key' });
  await form.getByLabel('Name').fill('Website');
  await form.getByLabel('Dollars in total').fill('12.50');
  await form.getByRole('button', { name: 'Create key' }).click();
  const shown = page.getByRole('dialog', { name: 'Your new key' });
  const key = await shown.getByText(/^sk-\w{48}$/).innerText();
  await shown.getByRole('button', { name: 'Done' }).click();
  await hidden(shown);

  await page.getByRole('button', { name: 'Actions for Website', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Copy key' }).click();
  await visible(page.getByText('Copied the key “Website”.'));
  const search = page.getByRole('searchbox', { name: 'Search by name or key' });
  await search.press('ControlOrMeta+V');
  await eventually(() => search.inputValue()).toBe(key);
  await search.fill('');

  const opening = page.context().waitForEvent('page');
  await page
    .getByRole('row', { name: 'Website' })
    .getByText('$12.50')
    .click({ modifiers: ['ControlOrMeta'] });
  const tab = await opening;
  await visible(tab.getByRole('heading', { level: 1, name: 'Website' }));
  expect(new URL(page.url()).pathname).toBe('/keys');
});

for (const user of new Set(PAGES.map(({ as }) => as))) {
  test(`every page opens without an error: ${user ?? 'nobody'}`, async ({ visit, site }) => {
    const [first, ...others] = PAGES.filter(({ as }) => as === user);
    if (!first) return;
    const page = await openPage({ visit, site }, first, {});
    for (const demoPage of others) await openNextPage(page, site, demoPage);
  });
}
