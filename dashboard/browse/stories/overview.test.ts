import type { Page } from '@playwright/test';
import { violations } from '../harness/accessibility';
import { createUser, done, newKey, ROOT, signedIn } from '../harness/accounts';
import { eventually } from '../harness/eventually';
import { asGateway } from '../harness/gateway';
import { waitPastMidnight } from '../harness/midnight';
import { horizontalOverflow } from '../harness/scrolling';
import { expect, test } from '../harness/test';
import { hidden, visible } from '../harness/visibility';

test('an empty wallet needs attention', async ({ visit, root, site }) => {
  const ida = await createUser(root, 'ida', { quota: 0 });
  await newKey(await signedIn(site, ida), 'Website');
  const page = await visit({ as: ida });
  await visible(
    page.getByText('Your keys won’t work until your wallet is topped up.'),
    page.getByText('Ask an administrator to top it up.'),
  );
  // Who can do it is not told to ask somebody.
  const own = await visit({ as: ROOT });
  await visible(own.getByRole('link', { name: 'Top it up' }));
  await hidden(own.getByText('Ask'));
  await hidden(page.getByText('Nothing needs attention'));
});

test('refusals of the last hour need attention if somebody has to act', async ({ visit, root, site }) => {
  const ida = await createUser(root, 'ida', { quota: 10_000_000 });
  const { key, id } = await newKey(await signedIn(site, ida), 'Website', {
    model_limits_enabled: true,
    model_limits: 'gpt-5',
  });
  const gateway = await asGateway(site, root);
  const asks = (quota: number, model: string) =>
    gateway.POST('/api/gateway/charge', { body: { key, quota, model } });
  await asks(1, 'o1');
  const page = await visit({ as: ida });
  const quiet = page.getByText('1 other request was refused in the last hour: Model not allowed.');
  await eventually(async () => {
    await page.reload();
    await visible(page.getByText('Nothing needs attention'));
    return quiet.count();
  }).toBe(1);

  await asks(5_000_001, 'gpt-5');
  const row = page.getByRole('link', { name: 'Website Not enough' });
  await eventually(async () => {
    await page.reload();
    await visible(quiet);
    return row.count();
  }).toBe(1);
  await hidden(page.getByText('Nothing needs attention'));
  await row.click();
  await eventually(() => page.getByRole('table', { name: 'Requests' }).getByRole('row').count()).toBe(2);
  expect(page.url()).toContain(`/requests?token_id=${id}&outcome=refused&reason=`);

  const admin = await visit({ as: ROOT, path: '/admin' });
  const attention = admin.getByRole('region', { name: 'Needs attention' });
  await visible(attention.getByRole('link', { name: `Website of ${ida.username}` }));
  expect(await violations(admin.locator('main'))).toEqual([]);
});

test('what is cured leaves the alarms of its key, and the list says so', async ({ visit, root, site }) => {
  const ida = await createUser(root, 'ida', { quota: 10_000_000 });
  const api = await signedIn(site, ida);
  const { key, id } = await newKey(api, 'Website');
  const gateway = await asGateway(site, root);
  const asks = (quota: number) => gateway.POST('/api/gateway/charge', { body: { key, quota } });
  await asks(5_000_001);
  const params = { query: { status_only: '1' } };
  await done(api.PUT('/api/token/', { params, body: { id, status: 2 } }));
  await asks(1);
  const page = await visit({ as: ida });
  const alarm = page.getByRole('link', { name: /^Website/ });
  await eventually(async () => {
    await page.reload();
    await visible(alarm.or(page.getByText('Nothing needs attention')));
    return (await alarm.allInnerTexts()).join();
  }).toContain('Key disabled, Not enough quota left on the key: 2 requests refused in the last hour');

  await page.getByRole('button', { name: 'Enable: Website' }).click();
  await visible(
    alarm.getByText(/^Not enough quota left on the key: 1 request refused/),
    page.getByRole('button', { name: 'Add quota: Website' }),
    page.getByText('1 other request was refused in the last hour: Key disabled (passes now).'),
  );
  await done(api.PUT('/api/token/', { body: { id, add_quota: 1 } }));
  await page.reload();
  await visible(page.getByText('Nothing needs attention'));
  await page.goto('/requests?outcome=refused');
  await eventually(() => page.getByText(/^Fixed /).count()).toBe(2);
  expect(await violations(page.locator('main'))).toEqual([]);
});

test('a key that stopped is helped from the overview', async ({ visit, root, site }) => {
  const ida = await createUser(root, 'ida', { quota: 10_000_000 });
  const api = await signedIn(site, ida);
  await newKey(api, 'Empty', { remain_quota: 0 });
  const limits = { day: 250_000, week: 2_500_000 };
  const limited = await newKey(api, 'Limited', { remain_quota: 1_000_000, period_limits: limits });
  const gateway = await asGateway(site, root);
  await waitPastMidnight();
  await done(gateway.POST('/api/gateway/charge', { body: { key: limited.key, quota: 250_000 } }));
  const page = await visit({ as: ida });
  await visible(page.getByText(/^Its daily limit of \$0\.50 is used up\. Works again in /));
  expect(await violations(page.locator('main'))).toEqual([]);
  for (const width of [320, 768, 1280]) {
    await page.setViewportSize({ width, height: 900 });
    await eventually(() => horizontalOverflow(page)).toBe(0);
  }

  const raise = page.getByRole('button', { name: 'Raise the daily limit: Limited' });
  await raise.click();
  const form = page.getByRole('dialog', { name: 'Edit “Limited”' });
  await eventually(() => focusedPath(page)).toBe('period_limits.day');
  await page.keyboard.press('Escape');
  await hidden(form);
  await eventually(() => raise.evaluate((button) => button === document.activeElement)).toBe(true);
  await raise.click();
  await form.getByRole('textbox', { name: 'Dollars per day' }).fill('2');
  await form.getByRole('button', { name: 'Save changes' }).click();
  await hidden(form, raise);

  const add = page.getByRole('button', { name: 'Add quota: Empty' });
  await add.click();
  await eventually(() => focusedPath(page)).toBe('remain_quota');
  await page.keyboard.type('3');
  await page.getByRole('button', { name: 'Save changes' }).click();
  await hidden(add);
  await visible(page.getByText('Nothing needs attention'));
});

function focusedPath(page: Page): Promise<string | null | undefined> {
  return page.evaluate(() => document.activeElement?.getAttribute('data-path'));
}

test('a key with more quota than the wallet holds needs attention', async ({ visit, root, site }) => {
  const ida = await createUser(root, 'ida', { quota: 2_500_000 });
  const api = await signedIn(site, ida);
  await newKey(api, 'Website', { remain_quota: 2_500_000 });
  await newKey(api, 'Archive', { remain_quota: 2_500_001 });
  const page = await visit({ as: ida });
  const archive = page.getByRole('link', { name: 'Archive' });
  await visible(archive.getByText('Has $5.00 left, but your wallet has less.'));
  await hidden(page.getByRole('link', { name: 'Website' }));
});

test('the overview names the time zone of today', async ({ visit, root, site }) => {
  const ida = await createUser(root, 'ida');
  await newKey(await signedIn(site, ida), 'Website');
  const page = await visit({ as: ida });
  await visible(page.getByRole('heading', { name: 'Spent today (UTC)' }));
});

test('the form says that a quota is larger than the wallet', async ({ visit, root }) => {
  const ida = await createUser(root, 'ida', { quota: 2_500_000 });
  const page = await visit({ as: ida, path: '/keys?create' });
  const form = page.getByRole('dialog', { name: 'Create a key' });
  const warning = form.getByText('Your wallet holds $5.00.');
  await form.getByLabel('Dollars in total').fill('5');
  await hidden(warning);
  await form.getByLabel('Dollars in total').fill('5.01');
  await visible(warning);
  await form.getByRole('switch', { name: 'Unlimited' }).click();
  await hidden(warning);
});

test('the labels of the chart do not touch each other, also on small phones', async ({
  visit,
  root,
  site,
}) => {
  const ida = await createUser(root, 'ida', { quota: 500_000_000 });
  const { key, id } = await newKey(await signedIn(site, ida), 'Website', { remain_quota: 500_000_000 });
  await waitPastMidnight();
  await (await asGateway(site, root)).POST('/api/gateway/charge', { body: { key, quota: 123_456_789 } });
  const page = await visit({ as: ida });
  for (const path of ['/', `/keys/${id}`]) {
    await page.goto(path);
    const chart = page.getByRole('img', { name: /^Spend by day/ });
    for (const width of [320, 390, 768, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      await visible(chart);
      await page.evaluate(() => new Promise(requestAnimationFrame));
      const overlaps = () =>
        chart.evaluate((element) => {
          const boxes = [...element.querySelectorAll('span')]
            .filter(({ textContent }) => textContent)
            .map((label) => {
              const range = document.createRange();
              range.selectNodeContents(label);
              return { text: label.textContent, box: range.getBoundingClientRect() };
            });
          return boxes.flatMap(({ text, box }, index) =>
            boxes
              .slice(index + 1)
              .filter(({ box: other }) => {
                const isBeside = Math.abs(box.top - other.top) < box.height;
                return isBeside && box.right > other.left && other.right > box.left;
              })
              .map((other) => `${text} ${other.text}`),
          );
        });
      await eventually(overlaps, `${path} at ${width} pixels`).toEqual([]);
    }
  }
});
