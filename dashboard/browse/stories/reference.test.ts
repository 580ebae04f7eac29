import { zh } from '../../src/texts/zh';
import { violations } from '../harness/accessibility';
import { createUser, newKey, signedIn } from '../harness/accounts';
import { expect, test } from '../harness/test';
import { hidden, visible } from '../harness/visibility';

test('an operation is found by a search and tried with the session', async ({ visit, root, site }) => {
  const rita = await createUser(root, 'rita');
  await newKey(await signedIn(site, rita), 'Weather service');
  const page = await visit({ as: rita });
  await page.getByRole('link', { name: 'API reference' }).click();
  await page.getByRole('searchbox', { name: 'Search operations' }).fill('details');
  const operations = page.getByRole('navigation', { name: 'Operations' });
  expect(await operations.getByRole('link').count()).toBe(1);
  await page.getByRole('searchbox').fill('list your tokens');
  await operations.getByRole('link', { name: 'GET/api/token/' }).click();
  await visible(page.getByRole('heading', { name: 'GET/api/token/' }));
  expect(page.url()).toBe(`${site}/reference?operation=list`);
  expect(await page.title()).toContain('/api/token/');

  // A GET is sent at once.
  await page.getByRole('textbox', { name: 'page_size' }).fill('5');
  const command = page.getByText(`curl '${site}/api/token/?page_size=5'`);
  await visible(command);
  await page.getByRole('button', { name: 'Send request' }).click();
  await visible(page.getByText('Status 200'), page.getByText('"name": "Weather service"'));
  expect(await violations(page.locator('main'))).toEqual([]);

  // The answers are listed with their codes.
  await page.getByText('invalid_query, invalid_page').click();
  await visible(page.getByText('This page doesn’t exist.'));

  // The search stays when another operation is chosen.
  await page.goBack();
  expect(await page.getByRole('searchbox').inputValue()).toBe('list your tokens');
});

test('a request that changes something asks first, and its answer is not kept', async ({
  visit,
  root,
  site,
}) => {
  const rita = await createUser(root, 'rita');
  const page = await visit({ as: rita, path: '/reference?operation=create' });
  const body = page.getByRole('textbox', { name: 'Body (JSON)' });
  await body.fill('{"name": "From the reference"');
  await page.getByRole('button', { name: 'Send request' }).click();
  await visible(page.getByText('This isn’t valid JSON.'));

  await body.fill('{"name": "From the reference"}');
  await page.getByRole('textbox', { name: 'prefer' }).fill('return=representation');
  await page.getByRole('button', { name: 'Send request' }).click();
  const dialog = page.getByRole('dialog', { name: 'Send this request?' });
  await visible(dialog.getByText('POST /api/token/'));
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await hidden(dialog);
  const keys = await (await signedIn(site, rita)).GET('/api/token/');
  expect(keys.data).toMatchObject({ data: { total: 0 } });

  await page.getByRole('button', { name: 'Send request' }).click();
  await dialog.getByRole('button', { name: 'Send request' }).click();
  await visible(page.getByText('Status 200'), page.getByText('This answer may contain a secret.'));
  const answer = await page.getByText('"key":').innerText();
  const key = /"key": "([^"]+)"/.exec(answer)?.[1] ?? '';
  expect(key).toMatch(/^sk-/);

  await page.getByRole('link', { name: 'DELETE/api/token/{id} Delete' }).click();
  await visible(page.getByRole('heading', { name: 'DELETE/api/token/{id}' }));
  await page.goBack();
  await visible(body);
  expect(await page.content()).not.toContain(key);
  const stored = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
  expect(stored).not.toContain(key);

  // A path parameter is required.
  await page.goForward();
  await page.getByRole('button', { name: 'Send request' }).click();
  await visible(page.getByText('Fill in this field.'));

  await page.getByRole('link', { name: 'Keys', exact: true }).click();
  await visible(page.getByRole('link', { name: 'From the reference' }));
});

test('an operation for gateways takes a credential instead of the session', async ({ visit, root, site }) => {
  const rita = await createUser(root, 'rita');
  const { key } = await newKey(await signedIn(site, rita), 'Checked');
  const { data } = await root.POST('/api/admin/gateways', { body: { name: 'reference' } });
  const credential = data?.data.credential ?? '';
  const page = await visit({
    as: rita,
    expected: [/^401 POST \/api\/gateway\/verify$/],
    path: '/reference?operation=verify',
  });
  await page.getByRole('textbox', { name: 'Body (JSON)' }).fill(JSON.stringify({ key }));
  const send = page.getByRole('button', { name: 'Send request' });
  await send.click();
  await visible(page.getByText('Status 401'));
  // The session goes on.
  await visible(page.getByRole('heading', { name: 'POST/api/gateway/verify' }));

  await page.getByLabel('Gateway credential').fill(credential);
  await send.click();
  await visible(page.getByText('Status 200'), page.getByText('"valid": true'));
  const command = await page.getByText('curl -X POST').innerText();
  expect(command).not.toContain(credential);
});

test('the reference has a Chinese frame around the English document', async ({ visit, root }) => {
  const rita = await createUser(root, 'rita');
  const page = await visit({ as: rita, locale: 'zh-CN', phone: true });
  const words = zh.reference;
  await page.goto('/reference');
  await page.getByRole('searchbox', { name: words.search }).fill('overview');
  await page.getByRole('link', { name: '/api/user/self/overview' }).click();
  await visible(
    page.getByRole('article').getByText('Your own overview'),
    page.getByText(words.permissions.signed_in),
  );
  await page.getByRole('button', { name: words.tryIt.send }).click();
  await visible(page.getByText(words.answer.status(200)));
  await page.getByRole('link', { name: words.allOperations }).click();
  await visible(page.getByRole('searchbox', { name: words.search }));
});
