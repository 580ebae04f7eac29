import { violations } from '../harness/accessibility';
import { createUser, newKey, signedIn } from '../harness/accounts';
import { eventually } from '../harness/eventually';
import { expect, test } from '../harness/test';
import { hidden, visible } from '../harness/visibility';

test('a changed display name appears in the account menu', async ({ visit, root }) => {
  const bea = await createUser(root, 'bea');
  const page = await visit({ as: bea });
  await page.getByRole('link', { name: 'Profile' }).click();

  await page.getByLabel('Display name').fill('Bea Lovelace');
  await page.getByRole('button', { name: 'Save' }).click();
  await visible(page.getByText('Profile saved.'));
  await visible(page.getByRole('button', { name: 'Account: Bea Lovelace' }));
});

test('changing the password requires the old one and ends all other sessions', async ({ visit, root }) => {
  const bea = await createUser(root, 'bea');
  const elsewhere = await visit({ as: bea, expected: [/^401 /] });
  const page = await visit({
    as: bea,
    expected: [/^(400|401|403) PUT \/api\/user\/self$/],
    path: '/profile',
  });

  const change = async (old: string) => {
    await page.getByRole('textbox', { name: 'Current password' }).fill(old);
    await page.getByRole('textbox', { name: 'New password', exact: true }).fill('quite-another-one');
    await page.getByRole('textbox', { name: 'Repeat new password' }).fill('quite-another-one');
    await page.getByRole('button', { name: 'Change password' }).click();
  };
  await change('not-the-old-one');
  await visible(page.getByText('Current password is incorrect.'));
  await change(bea.password);
  await visible(page.getByText('Password changed. You were signed out everywhere else.'));

  // The other session has ended. Signing in again continues on the same page.
  await elsewhere.getByRole('link', { name: 'Profile' }).click();
  await visible(elsewhere.getByRole('heading', { name: 'Sign in again' }));
  await elsewhere.getByRole('textbox', { name: 'Password', exact: true }).fill('quite-another-one');
  await elsewhere.getByRole('button', { name: 'Sign in' }).click();
  await visible(elsewhere.getByRole('heading', { name: 'Profile' }));
});

test('an access token is shown once, works, and stops working when revoked', async ({
  visit,
  root,
  site,
}) => {
  const bea = await createUser(root, 'bea');
  const page = await visit({ as: bea, path: '/profile' });
  const statusWith = async (token: string) => {
    const answer = await fetch(`${site}/api/user/self`, { headers: { authorization: `Bearer ${token}` } });
    return answer.status;
  };

  await page.getByRole('button', { name: 'Create access token' }).click();
  const form = page.getByRole('dialog', { name: 'Create an access token' });
  await form.getByLabel('Name').fill('Deploy script');
  expect(await form.getByRole('combobox', { name: 'Expires' }).inputValue()).toBe('In 90 days');
  await form.getByRole('button', { name: 'Create access token' }).click();
  const shown = page.getByRole('dialog', { name: 'Your new access token' });
  await shown.getByRole('button', { name: 'Copy', exact: true }).click();
  await visible(shown.getByRole('button', { name: 'Copied' }));
  const token = await page.evaluate(() => navigator.clipboard.readText());
  await visible(shown.getByText(token, { exact: true }));
  await shown.getByRole('button', { name: 'Done' }).click();
  await hidden(shown);
  expect(await page.content()).not.toContain(token);
  const row = page.getByRole('table', { name: 'Access tokens' }).getByRole('row', { name: 'Deploy script' });
  await visible(row.getByText('never'));
  expect(await statusWith(token)).toBe(200);
  await page.reload();
  await visible(row);
  await hidden(row.getByText('never'));

  await page.getByRole('button', { name: 'Revoke Deploy script' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await visible(page.getByText('Revoked “Deploy script”.'), page.getByText('No access tokens'));
  expect(await statusWith(token)).toBe(401);
});

test('own sessions are listed and end one by one, and own activity is listed', async ({
  visit,
  root,
  site,
}) => {
  const bea = await createUser(root, 'bea');
  await newKey(await signedIn(site, bea), 'Website');
  const elsewhere = await visit({ as: bea, expected: [/^401 /] });
  const page = await visit({ as: bea, path: '/profile' });
  const sessions = page.getByRole('table', { name: 'Sessions' });
  await visible(sessions.getByText('This session'));
  await eventually(() => sessions.getByRole('row').count()).toBe(4);

  await sessions
    .getByRole('button', { name: /^Sign out/ })
    .first()
    .click();
  await page.getByRole('dialog').getByRole('button', { name: 'Sign out' }).click();
  await eventually(() => sessions.getByRole('row').count()).toBe(3);
  await page.getByRole('button', { name: 'Sign out everywhere else' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere else' }).click();
  await visible(page.getByText('Signed out 1 session.'));
  await eventually(() => sessions.getByRole('row').count()).toBe(2);
  await elsewhere.getByRole('link', { name: 'Profile' }).click();
  await visible(elsewhere.getByRole('heading', { name: 'Sign in again' }));

  const activity = page.getByRole('table', { name: 'Activity' });
  await page.reload();
  await visible(activity.getByRole('row', { name: 'Created a key' }).getByText('Key “Website”'));
  await visible(activity.getByRole('row', { name: 'Signed in' }).first().getByText('You'));
  expect(await violations(page.locator('main'))).toEqual([]);
});

test('after signing out, the back button shows no data', async ({ visit, root }) => {
  const bea = await createUser(root, 'bea');
  const page = await visit({ as: bea });
  await page.getByRole('link', { name: 'Profile' }).click();
  await visible(page.getByRole('heading', { name: 'Profile' }));

  await page.getByRole('button', { name: `Account: ${bea.username}` }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await visible(page.getByRole('heading', { name: 'Sign in' }));
  await page.goBack();
  await visible(page.getByRole('heading', { name: 'Sign in' }));
});

test('the selected colour scheme applies from the first paint of the next visit', async ({ visit, root }) => {
  const bea = await createUser(root, 'bea');
  const page = await visit({ as: bea, colorScheme: 'light' });
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await background();
  await page.getByRole('button', { name: 'Colour scheme' }).click();
  await page.getByRole('menuitemradio', { name: 'Dark' }).click();
  await eventually(background).not.toBe(light);
  const dark = await background();
  await page.goto('/profile', { waitUntil: 'commit' });
  await visible(page.getByRole('heading', { name: 'Profile' }));
  expect(await background()).toBe(dark);
});
