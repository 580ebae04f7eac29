import { createUser, done, newKey, ROOT, signedIn } from '../harness/accounts';
import { expect, test } from '../harness/test';
import { hidden, visible } from '../harness/visibility';

test('in a German browser, an amount is read as it is typed there, or refused', async ({ visit, root }) => {
  const ina = await createUser(root, 'ina', { quota: 0 });
  const page = await visit({ as: ROOT, locale: 'de-DE', path: `/admin/users/${ina.id}` });
  await page.getByRole('button', { name: 'Change wallet' }).click();
  const dialog = page.getByRole('dialog', { name: `${ina.username}’s wallet` });
  const amount = dialog.getByLabel('Amount (USD)');
  for (const [typed, after] of [
    ['0,500', '$0.50'],
    ['1.234,56 $', '$1,234.56'],
    ['$1,234.56', '$1,234.56'],
    ['1.5', '$1.50'],
  ] as const) {
    await amount.fill(typed);
    await visible(dialog.getByText(after, { exact: true }));
  }
  for (const typed of ['1,500', '1.500']) {
    await amount.fill('');
    await amount.fill(typed);
    await visible(dialog.getByText('This can mean two amounts. Write it like 1500 or 1.50.'));
  }
  await dialog.getByRole('button', { name: 'Change wallet' }).click();
  await visible(dialog.getByText('This can mean two amounts. Write it like 1500 or 1.50.'));

  await amount.fill('0,500');
  await dialog.getByRole('button', { name: 'Change wallet' }).click();
  await hidden(dialog);
  const { quota } = await done(root.GET('/api/admin/users/{id}', { params: { path: { id: ina.id } } }));
  expect(quota).toBe(250_000);
});

test('in a Chinese dashboard, an ambiguous amount is refused', async ({ visit, root, site }) => {
  const ina = await createUser(root, 'ina');
  const { id } = await newKey(await signedIn(site, ina), 'Website');
  const page = await visit({ as: ina, locale: 'zh-CN', path: `/keys/${id}` });
  await page.getByRole('button', { name: '编辑', exact: true }).click();
  const form = page.getByRole('dialog', { name: '编辑“Website”' });
  await form.getByLabel('每日（美元）').fill('1,500');
  await form.getByRole('button', { name: '保存修改' }).click();
  await visible(form.getByText('这个金额有两种读法。请写成 1500 或 1.50。'));
});
