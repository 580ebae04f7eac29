import { createUser, done, newKey, ROOT, signedIn } from '../harness/accounts';
import { expect, test } from '../harness/test';
import { hidden, visible } from '../harness/visibility';

/** Seconds in milliseconds, more than `Date` holds, and the largest number of the database. */
const TIMES = ['1795000000000', '9999999999999', '9223372036854775807'];

test('pages show times outside of the calendar', async ({ visit, startServer }) => {
  test.skip(!process.env.DATABASE_URL, 'writes rows that the API refuses, which needs the database');
  const server = await startServer();
  const { url: site } = server;
  const eva = await createUser(await signedIn(site, ROOT), 'eva');
  const api = await signedIn(site, eva);
  for (const time of TIMES) {
    const { id } = await newKey(api, `Until ${time}`);
    await server.sql(`update tokens set expires_at = ${time} where id = ${id}`);
  }
  const { id } = await newKey(api, 'Created in the past');
  const body = { name: 'For a script', expires_at: 0 };
  await done(api.POST('/api/user/access_tokens', { body }));
  await server.sql(`update tokens set created_time = -9223372036854775808 where id = ${id}`);
  await server.sql('update access_tokens set expires_at = 9223372036854775807');
  await server.sql(`update users set created_time = 9999999999999 where id = ${eva.id}`);

  const after = /after the year 9999/;
  const own = await visit({ as: eva, site, path: '/keys' });
  await expect(own.getByRole('row').getByText(after)).toHaveCount(TIMES.length);
  await own.goto('/');
  await visible(own.getByRole('heading', { name: 'Overview' }));
  await own.goto('/profile');
  await visible(own.getByRole('row', { name: 'For a script' }).getByText(after));
  await visible(own.getByText('9999999999999 (after the year 9999)'));
  await own.goto(`/keys/${id}`);
  await visible(own.getByText('before the year 1').first());

  await own.goto('/keys');
  await own.getByRole('link', { name: 'Until 1795000000000' }).click();
  await visible(own.getByText('1795000000000 (after the year 9999)'));
  await own.getByRole('button', { name: 'Edit', exact: true }).click();
  const form = own.getByRole('dialog', { name: 'Edit “Until 1795000000000”' });
  await visible(form.getByText(/1795000000000 \(after the year 9999\)/));
  // Other fields can be saved, and the time can be replaced.
  await form.getByLabel('Name').fill('Renamed');
  await form.getByLabel('Date and time').fill('2099-01-01T00:00');
  await form.getByRole('button', { name: 'Save changes' }).click();
  await hidden(form);
  await visible(own.getByRole('heading', { name: 'Renamed' }), own.getByText('Jan 1, 2099').first());

  const admin = await visit({ as: ROOT, site, path: '/admin' });
  await visible(admin.getByRole('heading', { name: 'Admin overview' }));
  // These times are wide, and lists of them would be cards on a smaller screen.
  await admin.setViewportSize({ width: 1600, height: 800 });
  await admin.goto('/admin/tokens');
  await visible(admin.getByRole('row', { name: 'Until 9999999999999' }).getByText(after));
  await admin.getByRole('link', { name: 'Until 9999999999999', exact: true }).click();
  await visible(admin.getByText('9999999999999 (after the year 9999)'));
  await admin.goto('/admin/users');
  await visible(admin.getByRole('row', { name: eva.username }).getByText(after));
  await admin.goto(`/admin/users/${eva.id}`);
  await visible(admin.getByText('9999999999999 (after the year 9999)'));
});

test('a range of days from the address cannot be outside of the calendar', async ({ visit, root }) => {
  const eva = await createUser(root, 'eva');
  const page = await visit({ as: eva });
  for (const day of ['-271821-04-20', '%2B275760-09-13', '0000-01-01', '2026']) {
    await page.goto(`/usage?range=custom&from=${day}&to=${day}`);
    await visible(page.getByRole('heading', { name: 'Usage' }).first());
    await visible(page.getByText('Pick both dates.'));
  }
});
