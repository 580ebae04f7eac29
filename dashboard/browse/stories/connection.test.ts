import { asRoot, createUser, done, newKey, signedIn } from '../harness/accounts';
import { eventually } from '../harness/eventually';
import { expect, test } from '../harness/test';
import { hidden, visible } from '../harness/visibility';

test('the page keeps its input while the server is down, and recovers automatically', async ({
  visit,
  startServer,
}) => {
  const server = await startServer();
  const finn = await createUser(await asRoot(server.url), 'finn');
  await newKey(await signedIn(server.url, finn), 'Website');
  const page = await visit({ as: finn, site: server.url, expected: [/^net::ERR_/] });
  await page.getByRole('link', { name: 'Keys', exact: true }).click();
  await page.getByRole('button', { name: 'Create key' }).click();
  const form = page.getByRole('dialog', { name: 'Create a key' });
  await form.getByLabel('Name').fill('Created during an outage');
  await form.getByLabel('Dollars in total').fill('4.5');

  await server.kill();
  await form.getByRole('button', { name: 'Create key' }).click();
  const banner = page.getByText('Can’t reach the server. Retrying');
  await visible(banner);
  expect(await form.getByLabel('Name').inputValue()).toBe('Created during an outage');

  await server.startAgain();
  await hidden(banner);
  expect(await form.getByLabel('Dollars in total').inputValue()).toBe('4.5');
  await form.getByRole('button', { name: 'Create key' }).click();
  await page.getByRole('dialog', { name: 'Your new key' }).getByRole('button', { name: 'Done' }).click();
  await visible(
    page.getByRole('link', { name: 'Created during an outage' }),
    page.getByRole('link', { name: 'Website' }),
  );
});

test('a page that is first opened during an outage appears when the server is back', async ({
  visit,
  startServer,
}) => {
  const server = await startServer();
  const finn = await createUser(await asRoot(server.url), 'finn');
  await newKey(await signedIn(server.url, finn), 'Website');
  const page = await visit({
    as: finn,
    site: server.url,
    expected: [/^net::ERR_/, /dynamically imported module/],
  });
  const banner = page.getByText('Can’t reach the server. Retrying');
  await visible(page.getByRole('heading', { name: 'Overview' }));

  await server.kill();
  await page.getByRole('link', { name: 'Usage', exact: true }).click();
  await visible(banner);
  await hidden(page.getByText('This page stopped working'));
  await server.startAgain();
  await visible(page.getByRole('heading', { name: 'Usage', level: 1 }));
  await hidden(banner);
});

test('the dashboard appears by itself after an outage while it was opened', async ({ visit, root, site }) => {
  const finn = await createUser(root, 'finn');
  await newKey(await signedIn(site, finn), 'Website');
  const page = await visit({ as: finn, expected: [/^net::ERR_/, /dynamically imported module/] });
  const isOut = (part: string) => page.route(part, (route) => route.abort('connectionrefused'));

  await isOut('**/api/**');
  await page.goto('/keys');
  await visible(page.getByText('Can’t reach the server. Retrying'), page.getByText('This didn’t load'));
  await page.unrouteAll();
  await visible(page.getByRole('link', { name: 'Website' }));

  await isOut('**/api/**');
  await isOut('**/assets/app-*.js');
  await page.goto('/keys');
  await visible(page.getByText('Keymeter didn’t load.'));
  await page.unrouteAll();
  await visible(page.getByRole('link', { name: 'Website' }));
});

test('until the app has loaded, the page has its colours and the logo', async ({ visit }) => {
  const page = await visit({ colorScheme: 'dark' });
  await page.route('**/assets/*.{js,css}', () => {});
  await page.goto('/sign-in', { waitUntil: 'commit' });
  await visible(page.getByRole('img', { name: 'Keymeter' }));
  const background = await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  expect(background).toBe('rgb(17, 21, 23)');
});

test('with a slow server, the page shows skeletons immediately', async ({ visit, root, site }) => {
  const finn = await createUser(root, 'finn');
  await newKey(await signedIn(site, finn), 'Website');
  const page = await visit({ as: finn });
  await visible(page.getByRole('heading', { name: 'Overview' }));
  let answer = () => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route('**/api/token/**', async (route) => {
    await answered;
    await route.continue();
  });

  await page.getByRole('link', { name: 'Keys', exact: true }).click();
  await visible(page.getByRole('heading', { name: 'Keys' }));
  const keys = page.getByRole('table', { name: 'Your keys' });
  await visible(keys);
  expect(await keys.getAttribute('aria-busy')).toBe('true');
  expect(await keys.getByRole('row').count()).toBeGreaterThan(1);

  answer();
  await visible(page.getByRole('link', { name: 'Website' }));
  expect(await keys.getAttribute('aria-busy')).not.toBe('true');
});

test('a refused switch returns to its old state', async ({ visit, root, site }) => {
  const finn = await createUser(root, 'finn');
  const api = await signedIn(site, finn);
  const { id } = await newKey(api, 'Over', { expired_time: 1_700_000_000 });
  await done(api.PUT('/api/token/', { params: { query: { status_only: '1' } }, body: { id, status: 2 } }));
  const page = await visit({ as: finn, expected: [/^4\d\d PUT \/api\/token/], path: '/keys' });
  const row = page.getByRole('row', { name: 'Over' });
  await visible(row.getByText('Disabled'));
  const isOn = row.getByRole('switch', { name: 'Allow requests with Over' });
  await isOn.click();
  await visible(page.getByRole('alert').filter({ hasText: /expired/i }));
  await eventually(() => isOn.isChecked()).toBe(false);
});
