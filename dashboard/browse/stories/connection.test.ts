import { expect } from 'vitest';
import { asRoot, newKey, newPerson, signedIn } from '../harness/people';
import { gone, see } from '../harness/see';
import { test } from '../harness/test';
import { Server } from '../server/Server';

test('the server goes down and comes back: nothing typed is lost, and the page recovers by itself', async ({
  visit,
  onTestFinished,
}) => {
  const server = await Server.start();
  onTestFinished(() => server.stop());
  const finn = await newPerson(await asRoot(server.url), 'finn');
  await newKey(await signedIn(server.url, finn), 'Website');
  const page = await visit({ as: finn, site: server.url, expected: [/^net::ERR_/] });
  await page.getByRole('link', { name: 'Keys', exact: true }).click();
  await page.getByRole('button', { name: 'Create key' }).click();
  const form = page.getByRole('dialog', { name: 'Create a key' });
  await form.getByLabel('Name').fill('Made in bad weather');
  await form.getByLabel('Quota').fill('4.5');

  await server.kill();
  await form.getByRole('button', { name: 'Create key' }).click();
  const banner = page.getByText('The server cannot be reached. Trying again by itself');
  await see(banner);
  expect(await form.getByLabel('Name').inputValue()).toBe('Made in bad weather');

  await server.startAgain();
  await gone(banner);
  expect(await form.getByLabel('Quota').inputValue()).toBe('4.5');
  await form.getByRole('button', { name: 'Create key' }).click();
  await page
    .getByRole('dialog', { name: 'Your new key' })
    .getByRole('button', { name: 'I have kept it' })
    .click();
  await see(
    page.getByRole('link', { name: 'Made in bad weather' }),
    page.getByRole('link', { name: 'Website' }),
  );
});

test('a slow server: the page is there at once, and skeletons stand for what is to come', async ({
  visit,
  root,
  site,
}) => {
  const finn = await newPerson(root, 'finn');
  await newKey(await signedIn(site, finn), 'Website');
  const page = await visit({ as: finn });
  await see(page.getByRole('heading', { name: 'Overview' }));
  let answer = () => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route('**/api/token/**', async (route) => {
    await answered;
    await route.continue();
  });

  await page.getByRole('link', { name: 'Keys', exact: true }).click();
  await see(page.getByRole('heading', { name: 'Keys' }));
  const keys = page.getByRole('table', { name: 'Your keys' });
  await see(keys);
  expect(await keys.getAttribute('aria-busy')).toBe('true');
  expect(await keys.getByRole('row').count()).toBeGreaterThan(1);

  answer();
  await see(page.getByRole('link', { name: 'Website' }));
  expect(await keys.getAttribute('aria-busy')).not.toBe('true');
});

test('a switch that is refused goes back to where it was', async ({ visit, root, site }) => {
  const finn = await newPerson(root, 'finn');
  await newKey(await signedIn(site, finn), 'Over', { expired_time: 1_700_000_000 });
  const page = await visit({ as: finn, expected: [/^4\d\d PUT \/api\/token/] });
  await page.goto('/keys');
  const row = page.getByRole('row', { name: 'Over' });
  await see(row.getByText('Expired'));
  const isOn = row.getByRole('switch', { name: 'Over is switched on' });
  if (await isOn.isChecked()) {
    await isOn.click();
    await see(row.getByText('Disabled'));
  }
  await isOn.click();
  await see(page.getByRole('alert').filter({ hasText: /expired/i }));
  await expect.poll(() => isOn.isChecked()).toBe(false);
});
