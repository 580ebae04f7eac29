import { newKey, newPerson, signedIn } from '../harness/people';
import { gone, see } from '../harness/see';
import { test } from '../harness/test';

test('on a phone the navigation unfolds, and keys are cards', async ({ visit, root, site }) => {
  const hal = await newPerson(root, 'hal');
  await newKey(await signedIn(site, hal), 'Website');
  const page = await visit({ as: hal, phone: true });
  await see(page.getByRole('heading', { name: 'Overview' }));

  await gone(page.getByRole('navigation').getByRole('link', { name: 'Keys' }));
  await page.getByRole('button', { name: 'Open the navigation' }).tap();
  await page.getByRole('navigation').getByRole('link', { name: 'Keys' }).tap();
  await see(page.getByRole('heading', { name: 'Keys' }));
  await gone(page.getByRole('navigation').getByRole('link', { name: 'Keys' }));

  await gone(page.getByRole('table'));
  const card = page
    .getByRole('list', { name: 'Your keys' })
    .getByRole('listitem')
    .filter({ hasText: 'Website' });
  await see(card.getByText('Enabled'), card.getByText('$10.00 left'));
  await card.getByRole('switch', { name: 'Website is switched on' }).tap();
  await see(card.getByText('Disabled'));
});
