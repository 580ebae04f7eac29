import type { Page } from '@playwright/test';
import { violations } from '../harness/accessibility';
import { type Account, createUser, newKey, ROOT, signedIn } from '../harness/accounts';
import { PLAIN_HTTP_HOST } from '../harness/chromium';
import { eventually } from '../harness/eventually';
import { expect, test } from '../harness/test';
import { hidden, visible } from '../harness/visibility';

/** The address of a server as another machine sees it. */
function plain(site: string): string {
  return site.replace('127.0.0.1', PLAIN_HTTP_HOST);
}

async function signIn(page: Page, { username, password }: Account) {
  await page.getByLabel('Username').fill(username);
  await page.getByRole('textbox', { name: 'Password' }).fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

test('over plain HTTP, what cannot be copied is selected', async ({ visit, root, site }) => {
  const eva = await createUser(root, 'eva');
  await newKey(await signedIn(site, eva), 'Website');
  const page = await visit({ site: plain(site) });
  await signIn(page, eva);
  await page.getByRole('link', { name: 'Keys', exact: true }).click();
  await page.getByRole('button', { name: 'Create key' }).first().click();
  const form = page.getByRole('dialog', { name: 'Create a key' });
  await form.getByLabel('Name').fill('Second');
  await form.getByLabel('Dollars in total').fill('5');
  await form.getByRole('button', { name: 'Create key' }).click();
  const shown = page.getByRole('dialog', { name: 'Your new key' });
  const key = await shown.getByText(/^sk-\w{48}$/).innerText();

  const dialog = page.getByRole('dialog', { name: 'Copy this text' });
  const selected = () => page.evaluate(() => String(window.getSelection()));
  await shown.getByRole('button', { name: 'Copy', exact: true }).click();
  await visible(dialog.getByText('The text is selected: press Ctrl+C.', { exact: false }));
  await eventually(selected).toBe(key);
  expect(await violations(dialog)).toEqual([]);
  // Closes only the upper dialog.
  await page.keyboard.press('Escape');
  await hidden(dialog);
  await visible(shown);

  await shown.getByRole('button', { name: 'Copy example' }).click();
  await eventually(selected).toContain(key);
  expect(await selected()).toContain('\n');
  await dialog.getByRole('button', { name: 'Close' }).click();
  await shown.getByRole('button', { name: 'Copy', exact: true }).click();
  await eventually(selected).toBe(key);
  await page.keyboard.press('Control+C');
  await hidden(dialog);
  await visible(shown.getByRole('button', { name: 'Copied' }));
  await shown.getByRole('button', { name: 'Done' }).click();

  const search = page.getByRole('searchbox', { name: 'Search by name or key' });
  await search.focus();
  await page.keyboard.press('Control+V');
  await eventually(() => search.inputValue()).toBe(key);
  await search.fill('');
  await page.getByRole('button', { name: 'Actions for Website' }).click();
  await page.getByRole('menuitem', { name: 'Copy key' }).click();
  await eventually(selected).toMatch(/^sk-\w{48}$/);
});

test('over plain HTTP, a sign-in that the browser cannot keep says so', async ({ visit, startServer }) => {
  const server = await startServer({ settings: { KEYMETER_HTTP__SECURE_COOKIES: 'always' } });
  const page = await visit({ site: plain(server.url), expected: [/^4\d\d POST \/api\/user\/login$/] });
  await signIn(page, ROOT);
  await visible(page.getByRole('alert').getByText(/https/));
  await visible(page.getByRole('alert').getByText(/secure_cookies/));
});
