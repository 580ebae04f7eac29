import { createUser, newKey, signedIn } from '../harness/accounts';
import { expect, test } from '../harness/test';
import { hidden, visible } from '../harness/visibility';

test('on a phone the navigation opens from a button, and keys are cards', async ({ visit, root, site }) => {
  const hal = await createUser(root, 'hal');
  await newKey(await signedIn(site, hal), 'Website');
  const page = await visit({ as: hal, phone: true });
  await visible(page.getByRole('heading', { name: 'Overview' }));

  await hidden(page.getByRole('navigation').getByRole('link', { name: 'Keys' }));
  await page.getByRole('button', { name: 'Open navigation' }).tap();
  await page.getByRole('navigation').getByRole('link', { name: 'Keys' }).tap();
  await visible(page.getByRole('heading', { name: 'Keys' }));
  await hidden(page.getByRole('navigation').getByRole('link', { name: 'Keys' }));

  await hidden(page.getByRole('table'));
  const card = page
    .getByRole('list', { name: 'Your keys' })
    .getByRole('listitem')
    .filter({ hasText: 'Website' });
  await visible(card.getByText('Enabled'), card.getByText('$10.00 left'));
  expect((await card.boundingBox())?.height, 'several cards fit on a screen').toBeLessThan(200);
  await card.getByRole('switch', { name: 'Allow requests with Website' }).tap();
  await visible(card.getByText('Disabled'));
});
