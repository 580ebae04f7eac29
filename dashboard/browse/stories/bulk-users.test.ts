import type { Page } from '@playwright/test';
import { violations } from '../harness/accessibility';
import { type Api, createUser, done, ROOT } from '../harness/accounts';
import { eventually } from '../harness/eventually';
import { expect, test } from '../harness/test';
import { hidden, visible } from '../harness/visibility';

const MANY_MS = 60_000;

async function walletOf(root: Api, id: number): Promise<number> {
  return (await done(root.GET('/api/admin/users/{id}', { params: { path: { id } } }))).quota;
}

/** The dialog, after the button of its first step. */
async function preview(page: Page) {
  const dialog = page.getByRole('dialog', { name: /^Change/ });
  await dialog.getByRole('button', { name: 'Preview' }).click();
  return dialog;
}

test('thirty people are topped up in at most ten clicks, and an undo takes it back', async ({
  visit,
  root,
}) => {
  test.setTimeout(MANY_MS);
  const name = `crew${process.pid}`;
  const crew = [];
  for (let count = 0; count < 30; count += 1) crew.push(await createUser(root, name));
  const page = await visit({ as: ROOT, path: `/admin/users?keyword=${name}` });
  let clicks = 0;
  const click = async (...[role, options]: Parameters<Page['getByRole']>) => {
    clicks += 1;
    await page.getByRole(role, options).click();
  };
  const all = { name: 'Select all users on this page' };
  const bar = page.getByRole('region', { name: 'Selected users' });

  await click('checkbox', all);
  await visible(bar.getByText('20 selected'));
  await click('button', { name: 'Next page' });
  await visible(bar.getByText('20 selected · 20 not on this page'));
  await click('checkbox', all);
  await visible(bar.getByText('30 selected'));
  await click('button', { name: 'Top up' });
  const dialog = page.getByRole('dialog', { name: 'Change 30 users' });
  await dialog.getByLabel('Dollars for each user').fill('2.50');
  await click('button', { name: 'Preview' });
  await visible(dialog.getByText('30 users will get $75.00 in total.'));
  await visible(dialog.getByRole('row', { name: crew.at(-1)?.username }).getByText('$102.50'));
  expect(await violations(dialog)).toEqual([]);
  expect(await walletOf(root, crew.at(-1)?.id ?? 0)).toBe(50_000_000);
  await click('button', { name: 'Top up 30 users' });
  await visible(page.getByText('Topped up 30 users, with $75.00 in total.'));
  expect(clicks).toBeLessThanOrEqual(10);
  await hidden(dialog, bar);
  for (const { id } of crew) expect(await walletOf(root, id)).toBe(51_250_000);

  await page.getByRole('button', { name: 'Undo' }).click();
  await visible(page.getByText('Took back what 30 users got.'));
  for (const { id } of crew) expect(await walletOf(root, id)).toBe(50_000_000);
});

test('an undo that is refused says whose wallet was changed', async ({ visit, root }) => {
  const [ana, ben] = [await createUser(root, 'ana'), await createUser(root, 'ben')];
  const page = await visit({
    as: ROOT,
    path: '/admin/users',
    expected: [/^409 POST \/api\/admin\/users\/bulk/],
  });
  await page.getByRole('button', { name: 'Change several users' }).click();
  const dialog = page.getByRole('dialog', { name: 'Change several users' });
  await dialog
    .getByRole('textbox', { name: 'Usernames' })
    .fill(`${ana.username}\n${ben.username.toUpperCase()}\n`);
  await dialog.getByLabel('Dollars for each user').fill('1');
  await preview(page);
  await dialog.getByRole('button', { name: 'Top up 2 users' }).click();
  await visible(page.getByText('Topped up 2 users, with $2.00 in total.'));
  const grant = { params: { path: { id: ben.id } }, body: { delta: 1 } };
  await done(root.POST('/api/admin/users/{id}/quota', grant));
  await page.getByRole('button', { name: 'Undo' }).click();
  await visible(
    page.getByText(`Nothing was taken back. ${ben.username}: “root” changed this user since`, {
      exact: false,
    }),
  );
  expect(await walletOf(root, ana.id)).toBe(50_500_000);
});

test('a file of top-ups is dropped, and its wrong lines are named', async ({ visit, root }) => {
  const ana = await createUser(root, 'ana');
  const page = await visit({
    as: ROOT,
    path: '/admin/users',
    expected: [/^40[04] POST \/api\/admin\/users\/bulk/],
  });
  await page.getByRole('button', { name: 'Change several users' }).click();
  const dialog = page.getByRole('dialog', { name: 'Change several users' });
  const lines = (usd: string) => `user,usd,note\n${ana.username},${usd},May\nnobody-${process.pid},5\n`;
  const file = await page.evaluateHandle((text) => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([text], 'top-ups.csv', { type: 'text/csv' }));
    return transfer;
  }, lines('3.25'));
  await dialog.getByRole('textbox', { name: 'Usernames' }).dispatchEvent('drop', { dataTransfer: file });
  const text = dialog.getByLabel('Lines of the file');
  await eventually(() => text.inputValue()).toBe(lines('3.25'));
  await preview(page);
  await visible(dialog.getByText(`line 3, nobody-${process.pid}: There is no such user.`));
  expect(await violations(dialog)).toEqual([]);
  await text.fill(`${ana.username},3.25,May\n`);
  await preview(page);
  await dialog.getByRole('button', { name: 'Top up 1 user' }).click();
  await visible(page.getByText('Topped up 1 user, with $3.25 in total.'));
  expect(await walletOf(root, ana.id)).toBe(51_625_000);
});

test('selected users are limited, moved, disabled and enabled together', async ({ visit, root }) => {
  const name = `team${process.pid}`;
  const [ana, ben] = [await createUser(root, name), await createUser(root, name)];
  const page = await visit({ as: ROOT, path: `/admin/users?keyword=${name}` });
  const dialog = page.getByRole('dialog', { name: 'Change 2 users' });
  const start = async (action: string) => {
    await page.getByRole('checkbox', { name: 'Select all users on this page' }).check();
    const bar = page.getByRole('region', { name: 'Selected users' });
    await bar.getByRole('button', { name: action, exact: true }).click();
  };
  const apply = async (button: string) => {
    await preview(page);
    await dialog.getByRole('button', { name: button }).click();
    await visible(page.getByText('Changed 2 users.').last());
    await hidden(dialog);
  };

  await start('Limits');
  await dialog.getByLabel('Dollars per week').fill('20');
  await apply('Limit 2 users');
  await visible(page.getByRole('row', { name: ana.username }).getByText('$0.00 of $20.00 this week'));

  await start('Disable');
  await preview(page);
  await visible(dialog.getByText('2 of 2 users will be changed.'));
  await dialog.getByRole('button', { name: 'Back' }).click();
  await apply('Disable 2 users');
  await visible(page.getByRole('row', { name: ben.username }).getByText('Disabled', { exact: true }));

  await start('Enable');
  await apply('Enable 2 users');
  await hidden(page.getByRole('row', { name: ben.username }).getByText('Disabled', { exact: true }));

  await start('Group');
  await dialog.getByRole('combobox', { name: 'Group' }).click();
  await page.getByRole('option', { name: 'default' }).click();
  await preview(page);
  await visible(dialog.getByText('0 of 2 users will be changed.'));
});
