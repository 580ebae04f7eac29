import type { Page } from '@playwright/test';
import { violations } from '../harness/accessibility';
import { type Api, createUser, done, newKey, signedIn } from '../harness/accounts';
import { eventually } from '../harness/eventually';
import { asGateway } from '../harness/gateway';
import { tabTo } from '../harness/keyboard';
import { waitPastMidnight } from '../harness/midnight';
import { horizontalOverflow } from '../harness/scrolling';
import { expect, test } from '../harness/test';
import { hidden, visible } from '../harness/visibility';

const UNITS = 500_000;

/** The narrowest screen, and one as high as a small phone. */
const SMALL = { width: 320, height: 568 };

const charge = (gateway: Api, key: string | undefined) =>
  gateway.POST('/api/gateway/charge', { body: { key: key ?? '', quota: UNITS, ip: '192.0.2.7' } });

const errorOf = async (answer: ReturnType<typeof charge>) =>
  ((await answer).error as { error?: string } | undefined)?.error;

const dialogs = (page: Page, name: string) => ({
  question: page.getByRole('dialog', { name: `Replace the key “${name}”` }),
  shown: page.getByRole('dialog', { name: 'Your new key' }),
});

test('a key is replaced, both keys spend one quota, and the old one is ended', async ({
  visit,
  root,
  site,
}) => {
  const ada = await createUser(root, 'ada');
  const api = await signedIn(site, ada);
  const { id, key: first } = await newKey(api, 'Website');
  const gateway = await asGateway(site, root);
  const page = await visit({ as: ada, path: `/keys/${id}` });
  const { question, shown } = dialogs(page, 'Website');
  const replace = page.getByRole('button', { name: 'Replace key' });
  const section = page.getByRole('heading', { name: 'Old keys' });

  await visible(replace, page.getByRole('heading', { name: 'About this key' }));
  await hidden(section);
  await replace.click();
  const isChosen = question.getByRole('radio', { name: 'A day after the new key is first used' });
  await eventually(() => isChosen.evaluate((element) => element === document.activeElement)).toBe(true);
  await eventually(() => isChosen.isChecked()).toBe(true);
  expect(await violations(question)).toEqual([]);
  await question.getByRole('button', { name: 'Cancel' }).click();
  await hidden(question);

  await replace.click();
  await question.getByRole('button', { name: 'Replace key' }).click();
  const second = await shown.getByText(/^sk-\w{48}$/).innerText();
  expect(second).not.toBe(first);
  await visible(shown.getByRole('tab', { name: 'curl' }));
  await shown.getByRole('button', { name: 'Copy', exact: true }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(second);
  expect(await violations(shown)).toEqual([]);
  await shown.getByRole('button', { name: 'Done' }).click();
  await hidden(shown);
  await eventually(() => replace.evaluate((element) => element === document.activeElement)).toBe(true);
  expect(await page.content()).not.toContain(second);

  const row = page.getByRole('table', { name: 'Old keys' }).getByRole('row', { name: first?.slice(-4) });
  await visible(row.getByText('Waits for the first use of the new key'), row.getByText('Not used since'));
  await done(charge(gateway, first));
  await done(charge(gateway, second));
  await eventually(async () => {
    await page.reload();
    await visible(section);
    return row.getByText('Not used since').count();
  }).toBe(0);
  await visible(row.getByText(/^Works for another (1 d|23 h 59 min)$/), page.getByText('$8.00 left'));
  expect(await row.getByText('just now').count()).toBe(2);
  expect(await violations(page.locator('main'))).toEqual([]);

  await row.getByRole('button', { name: 'End now' }).click();
  const confirm = page.getByRole('dialog', { name: 'End this old key?' });
  await visible(confirm.getByText(/^Last used/));
  await confirm.getByRole('button', { name: 'End now' }).click();
  await visible(page.getByText('The old key has ended.'), page.getByText('No old key works any more.'));
  await hidden(confirm, page.getByRole('table', { name: 'Old keys' }));
  await eventually(() => section.evaluate((element) => element === document.activeElement)).toBe(true);
  expect(await errorOf(charge(gateway, first))).toBe('invalid_key');
  await done(charge(gateway, second));

  await page.getByRole('button', { name: 'Show 1 ended key' }).click();
  await visible(page.getByRole('table', { name: 'Ended keys' }).getByRole('row', { name: first?.slice(-4) }));
  expect(await violations(page.locator('main'))).toEqual([]);
});

test('a leaked key ends at once, and its owner sees where it is still tried', async ({
  visit,
  root,
  site,
}) => {
  const eva = await createUser(root, 'eva');
  const api = await signedIn(site, eva);
  const { id, key: first } = await newKey(api, 'Crawler');
  const gateway = await asGateway(site, root);
  await waitPastMidnight();
  const page = await visit({ as: eva, path: '/keys' });
  const { question, shown } = dialogs(page, 'Crawler');

  await page.getByRole('button', { name: 'Actions for Crawler' }).click();
  await page.getByRole('menuitem', { name: 'Replace key' }).click();
  await eventually(() => question.getByRole('radio').nth(2).isChecked()).toBe(true);
  // The first choice, by keyboard only.
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowUp');
  await eventually(() => question.getByRole('radio', { name: 'The key leaked' }).isChecked()).toBe(true);
  await tabTo(page, question.getByRole('button', { name: 'Replace and end the old key' }));
  await page.keyboard.press('Enter');
  await visible(shown.getByText(/^The old key has ended\./));
  const second = await shown.getByText(/^sk-\w{48}$/).innerText();
  expect(await violations(shown)).toEqual([]);
  expect(await errorOf(charge(gateway, first))).toBe('invalid_key');
  await done(charge(gateway, second));

  await shown.getByRole('link', { name: 'See where the old key is still tried' }).click();
  const requests = page.getByRole('table', { name: 'Requests' });
  await eventually(async () => {
    await page.reload();
    await visible(page.getByRole('heading', { name: 'Requests', exact: true }));
    return requests.getByRole('row', { name: 'Unknown key' }).count();
  }).toBe(1);
  expect(page.url()).toBe(`${site}/requests?token_id=${id}&outcome=refused&reason=invalid_key`);

  await page.goto(`/keys/${id}`);
  await page.getByRole('link', { name: 'See where ended keys are still tried' }).click();
  await requests.getByRole('row', { name: 'Unknown key' }).getByRole('link').click();
  await visible(page.getByRole('dialog', { name: 'Request' }).getByText('192.0.2.7'));
});

test('what the server refuses is said in the dialog, also on a small phone', async ({
  visit,
  root,
  site,
}) => {
  const hal = await createUser(root, 'hal');
  const api = await signedIn(site, hal);
  const { id, key } = await newKey(api, 'Website');
  const body = { grace_seconds: 3600, grace_from: 'now' };
  for (let count = 0; count < 3; count += 1)
    await done(api.POST('/api/token/{id}/rotate', { params: { path: { id } }, body }));
  const page = await visit({
    as: hal,
    path: `/keys/${id}`,
    phone: true,
    expected: [/^409 POST \/api\/token\/\d+\/rotate$/],
  });
  await page.setViewportSize(SMALL);
  const { question, shown } = dialogs(page, 'Website');

  const cards = page.getByRole('list', { name: 'Old keys' }).getByRole('listitem');
  await eventually(() => cards.count()).toBe(3);
  await visible(cards.filter({ hasText: key?.slice(-4) }).getByText(/^Works for another (1 h|59 min)$/));
  expect(await horizontalOverflow(page)).toBe(0);

  await page.getByRole('button', { name: 'Replace key' }).tap();
  await question.getByRole('button', { name: 'Replace key' }).tap();
  await visible(question.getByRole('alert').getByText(/^Three old keys still work\./));
  await question.getByText('The key leaked: end the old one at once').tap();
  await hidden(question.getByRole('alert'));
  expect(await horizontalOverflow(page)).toBe(0);
  await question.getByRole('button', { name: 'Replace and end the old key' }).tap();
  await visible(shown.getByText('Keys that you replaced earlier still work.'));
  expect(await horizontalOverflow(page)).toBe(0);
  await shown.getByRole('button', { name: 'Done' }).tap();
  await eventually(() => cards.count()).toBe(3);
  await visible(page.getByRole('button', { name: 'Show 1 ended key' }));
});
