import type { Page } from '@playwright/test';
import type { components } from '../../src/api/schema';
import { violations } from '../harness/accessibility';
import { createUser, newKey, ROOT, signedIn } from '../harness/accounts';
import { eventually } from '../harness/eventually';
import { horizontalOverflow } from '../harness/scrolling';
import { expect, test } from '../harness/test';
import { hidden, visible } from '../harness/visibility';

type Forecasts = components['schemas']['ForecastsBody'];

const QUOTA = /^Lasts until about [A-Z][a-z]{2} \d+.* \(between .+ and .+\)\.$/;
const WEEK = 'The weekly limit ends in 2 days.';
const MONTH = 'The monthly limit ends today.';

const on = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

const inDays = (days: number, earliest_days = days, latest_days = days) => ({
  days,
  earliest_days,
  latest_days,
  runs_out_on: on(days),
  earliest_on: on(earliest_days),
  latest_on: on(latest_days),
});

/** Answers as the server does after some days of spend, which a story does not have. */
async function answer(page: Page, { account, token }: Forecasts) {
  await page.route('**/api/**/forecast*', (route) => {
    const isOfKey = new URL(route.request().url()).searchParams.has('token_id');
    const data: Forecasts = isOfKey ? { token } : { account };
    return route.fulfill({ json: { success: true, message: '', data } });
  });
}

test('the wallet and a key say when they end at the present pace', async ({ visit, root, site }) => {
  const ada = await createUser(root, 'ada');
  const { id } = await newKey(await signedIn(site, ada), 'Crawler');
  const account = { quota: inDays(11, 2, 30), week: null, month: null };
  const token = { quota: inDays(11, 2, 30), week: inDays(2), month: inDays(0) };

  const own = await visit({ as: ada });
  await visible(own.getByRole('heading', { name: 'Wallet' }), own.getByText('$0.00 spent in total'));
  await hidden(own.getByText('Lasts until'));
  await answer(own, { account, token });
  await own.reload();
  await visible(own.getByText(QUOTA));
  await hidden(own.getByText(WEEK));
  await check(own);
  await own.goto(`/keys/${id}`);
  await visible(own.getByText(QUOTA), own.getByText(WEEK), own.getByText(MONTH));
  await check(own);

  const admin = await visit({ as: ROOT, path: `/admin/users/${ada.id}` });
  await visible(admin.getByRole('heading', { level: 1, name: ada.username }));
  await hidden(admin.getByText('Lasts until'));
  await answer(admin, { account: { ...account, week: inDays(2) }, token });
  await admin.reload();
  await visible(admin.getByText(QUOTA), admin.getByText(WEEK));
  await check(admin);
  await admin.goto(`/admin/tokens/${id}`);
  await visible(admin.getByText(QUOTA), admin.getByText(MONTH));
  await check(admin);
});

test('a forecast that fails leaves no trace', async ({ visit, root }) => {
  const ada = await createUser(root, 'ada');
  const page = await visit({ as: ada, expected: [/^400 GET \/api\/usage\/forecast/] });
  await page.route('**/api/usage/forecast*', (route) =>
    route.fulfill({ status: 400, json: { success: false, message: 'no', error: 'invalid_request' } }),
  );
  const failed = page.waitForResponse('**/api/usage/forecast*');
  await page.reload();
  await failed;
  await visible(page.getByRole('heading', { name: 'Wallet' }));
  await hidden(page.getByText('Lasts until'), page.getByRole('alert'));
});

async function check(page: Page) {
  expect(await violations(page.locator('main'))).toEqual([]);
  for (const width of [320, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    await eventually(() => horizontalOverflow(page)).toBe(0);
  }
  await page.setViewportSize({ width: 1280, height: 800 });
}
