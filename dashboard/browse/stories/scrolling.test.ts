import { createUser, newKey, signedIn } from '../harness/accounts';
import { checkRows } from '../harness/checkRows';
import { eventually } from '../harness/eventually';
import { tabTo } from '../harness/keyboard';
import { THREE_WIDTHS } from '../harness/layout';
import { showTable } from '../harness/pages';
import { expect, test } from '../harness/test';
import { visible } from '../harness/visibility';

const MANY_ADDRESSES = Array.from({ length: 40 }, (_, index) => `192.0.2.${index}`).join('\n');

test('on a small screen, the keyboard scrolls overflowing content', async ({ visit, root, site }) => {
  const ida = await createUser(root, 'ida');
  const { id } = await newKey(await signedIn(site, ida), 'Website', { allow_ips: MANY_ADDRESSES });
  const page = await visit({ as: ida });
  await page.setViewportSize({ width: 280, height: 480 });

  await page.goto(`/keys/${id}`);
  await showTable(page);
  await visible(page.getByRole('table', { name: 'Usage by day' }));
  const addresses = page.getByRole('region', { name: 'Allowed IP addresses' });
  await tabTo(page, addresses);
  await page.keyboard.press('ArrowDown');
  await eventually(() => addresses.evaluate((element) => element.scrollTop)).toBeGreaterThan(0);
  const usage = page.getByRole('region', { name: 'Usage by day' });
  await tabTo(page, usage);
  await page.keyboard.press('ArrowRight');
  await eventually(() => usage.evaluate((element) => element.scrollLeft)).toBeGreaterThan(0);

  await page.goto('/keys');
  await page.getByRole('button', { name: 'Create key' }).click();
  const form = page.getByRole('dialog', { name: 'Create a key' });
  await form.getByLabel('Name').fill('Another');
  await form.getByLabel('Dollars in total').fill('1');
  await form.getByRole('button', { name: 'Create key' }).click();
  const example = page.getByRole('dialog', { name: 'Your new key' }).getByRole('region', { name: 'Example' });
  await tabTo(page, example);
  await page.keyboard.press('ArrowRight');
  await eventually(() => example.evaluate((element) => element.scrollLeft)).toBeGreaterThan(0);
});

test('content without overflow is not focusable', async ({ visit, root, site }) => {
  const ivo = await createUser(root, 'ivo');
  const { id } = await newKey(await signedIn(site, ivo), 'Website', { allow_ips: '192.0.2.1' });
  const page = await visit({ as: ivo, path: `/keys/${id}` });
  await showTable(page);
  await visible(page.getByRole('table', { name: 'Usage by day' }));
  expect(await page.getByRole('region').count()).toBe(0);
  await page.setViewportSize({ width: 280, height: 480 });
  await visible(page.getByRole('region', { name: 'Usage by day' }));
});

test('the controls of every row are in view on three screens', async ({ visit, root, site }) => {
  await checkRows({ visit, root, site }, THREE_WIDTHS);
});
