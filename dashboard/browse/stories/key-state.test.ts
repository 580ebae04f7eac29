import type { Page, Route } from '@playwright/test';
import { violations } from '../harness/accessibility';
import { createUser, done, newKey, ROOT, signedIn } from '../harness/accounts';
import { eventually } from '../harness/eventually';
import { asGateway } from '../harness/gateway';
import { waitPastMidnight } from '../harness/midnight';
import { expect, test } from '../harness/test';
import { hidden, visible } from '../harness/visibility';

test('a key that a limit stops is shown as stopped, until when, and why', async ({ visit, root, site }) => {
  const ada = await createUser(root, 'ada');
  const api = await signedIn(site, ada);
  const limits = { day: 500_000, week: -1, month: -1 };
  const { id, key } = await newKey(api, 'Crawler', { period_limits: limits });
  await waitPastMidnight();
  await done((await asGateway(site, root)).POST('/api/gateway/charge', { body: { key, quota: 500_000 } }));

  const page = await visit({ as: ada });
  const attention = page.getByRole('listitem').filter({ hasText: 'Crawler' });
  await visible(attention.getByText('Limit reached'), attention.getByText(/Works again in /));
  await hidden(page.getByText('Nothing needs attention'));
  await page.getByRole('link', { name: 'Limit reached 1' }).click();
  expect(page.url()).toBe(`${site}/keys?state=key_limit_reached`);
  const row = page.getByRole('row', { name: 'Crawler' });
  await visible(row.getByText('Limit reached'), row.getByText(/^Works again in /));
  await page.goto(`/keys/${id}`);
  await visible(page.getByText('Limit reached', { exact: true }));
  expect(await violations(page.locator('main'))).toEqual([]);

  // What stops the account is said once, and not of each key.
  await done(
    root.PATCH('/api/admin/users/{id}', {
      params: { path: { id: ada.id } },
      body: { period_limits: { day: 500_000 } },
    }),
  );
  await done(api.PUT('/api/token/', { body: { id, period_limits: { day: -1 } } }));
  await page.goto('/');
  await visible(page.getByText(/^Your keys won’t work until the limit of your account renews in /));
  await hidden(page.getByText('Nothing needs attention'));

  const admin = await visit({ as: ROOT, path: `/admin/tokens?user_id=${ada.id}` });
  await visible(admin.getByRole('row', { name: 'Crawler' }).getByText('Account limit reached'));
});

test('while a key is switched, its badge says so, and goes back if the server refuses', async ({
  visit,
  root,
  site,
}) => {
  const ada = await createUser(root, 'ada');
  const { id } = await newKey(await signedIn(site, ada), 'Crawler', { remain_quota: 0 });
  const expected = [/^503 (PUT \/api\/token\/|POST \/api\/admin\/tokens\/\d+\/status)/];
  const own = await visit({ as: ada, path: '/keys', expected });
  const admin = await visit({ as: ROOT, path: `/admin/tokens?user_id=${ada.id}`, expected });

  for (const [page, path] of [
    [own, '**/api/token/?*'],
    [admin, `**/api/admin/tokens/${id}/status`],
  ] as const) {
    const row = page.getByRole('row', { name: 'Crawler' });
    const badge = (text: string) => row.getByText(text, { exact: true });
    const control = row.getByRole('switch', { name: 'Allow requests with Crawler' });
    await visible(badge('Used up'));

    const refuse = held(page, path);
    await control.click();
    await visible(badge('Disabling…'));
    await hidden(badge('Used up'), badge('Disabled'));
    await refuse((route) => route.fulfill({ status: 503, body: 'oops' }));
    await visible(badge('Used up'));
    await eventually(() => control.isChecked()).toBe(true);

    const disable = held(page, path);
    await control.click();
    await visible(badge('Disabling…'));
    await disable((route) => route.continue());
    await visible(badge('Disabled'));

    const enable = held(page, path);
    await control.click();
    await visible(badge('Enabling…'));
    await enable((route) => route.continue());
    await visible(badge('Used up'));
  }
});

/** Holds the next request until it is answered. */
function held(page: Page, path: string) {
  const request = new Promise<Route>((resolve) => {
    page.route(path, (route) => (route.request().method() === 'GET' ? route.fallback() : resolve(route)), {
      times: 1,
    });
  });
  return async (answer: (route: Route) => Promise<void>) => answer(await request);
}
