import { violations } from '../harness/accessibility';
import { BOSS, newApiFile, OWNER } from '../harness/otherService';
import { expect, test } from '../harness/test';
import { hidden, visible } from '../harness/visibility';

test('administrators see what an import did, and everyone sees which keys are imported', async ({
  visit,
  startServer,
}, testInfo) => {
  const server = await startServer();
  const file = await newApiFile(testInfo.outputPath());
  await server.command('import', 'new-api', file);
  await server.command('import', 'new-api', file);

  const page = await visit({ as: BOSS, site: server.url, path: '/admin' });
  await page.getByRole('link', { name: 'Imports from other services' }).click();
  await visible(page.getByRole('heading', { level: 1, name: 'Imports' }));
  const [second, first] = [0, 1].map((index) => page.getByRole('region', { name: 'new-api' }).nth(index));
  if (!first || !second) throw new Error('there are two runs');
  await visible(
    second.getByText('Complete'),
    second.getByText(file),
    second.getByText('0 accounts, 0 keys, 0 access tokens'),
    second.getByText('The history of 2 accounts was here before.'),
    second.getByRole('row', { name: 'Accounts 7 0 7 0' }),
    first.getByText('7 accounts, 14 keys, 2 access tokens'),
  );
  await hidden(first.getByRole('table'));
  await first.getByRole('button', { name: 'Show report' }).click();
  await visible(
    first.getByRole('row', { name: 'Keys 18 14 0 4', exact: true }),
    first.getByText(/History: 5 requests of 2 accounts, \$0\.00\d+ in all\./),
    first.getByRole('row', { name: 'Wallets, used $0.14 $0.14' }),
    first.getByRole('listitem').filter({ hasText: '2 Channels' }),
  );
  const debts = first.getByRole('listitem').filter({ hasText: 'Wallet was below zero' });
  await visible(debts.getByText(/\$0\.00\d+ in all/));
  await debts.getByText('Show which').click();
  await visible(debts.getByText(/Account 5: \$0\.00\d+/));
  const names = first.getByRole('listitem').filter({ hasText: 'got the account’s ID as a suffix' });
  await names.getByText('Show which').click();
  await visible(names.getByText('Account 4: “сосо” became “сосо-4”'));
  expect(await violations(page.locator('main'))).toEqual([]);

  await page.goto('/admin/tokens?keyword=somewhere');
  const hint = page.getByRole('tooltip', {
    name: 'Came from another service with an import; its key has no checksum',
  });
  await page.getByRole('row', { name: 'somewhere' }).getByText('Imported', { exact: true }).hover();
  await visible(hint);
  await page.getByRole('link', { name: 'somewhere', exact: true }).click();
  await visible(page.locator('header').getByText('Imported', { exact: true }));

  const own = await visit({ as: OWNER, site: server.url, path: '/keys?create' });
  await own.getByRole('dialog').getByLabel('Name').fill('Made here');
  await own.getByRole('dialog').getByLabel('Dollars in total').fill('0.01');
  await own.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
  await own.getByRole('dialog').getByRole('button', { name: 'Done' }).click();
  await visible(own.getByRole('row', { name: 'prod' }).getByText('Imported', { exact: true }));
  await hidden(own.getByRole('row', { name: 'Made here' }).getByText('Imported', { exact: true }));
  expect(await violations(own.locator('main'))).toEqual([]);
  await own.getByRole('link', { name: 'prod', exact: true }).click();
  await visible(own.locator('header').getByText('Imported', { exact: true }));
});
