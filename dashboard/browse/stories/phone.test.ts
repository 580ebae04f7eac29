import { createUser, newKey, signedIn } from '../harness/accounts';
import { eventually } from '../harness/eventually';
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

test('on a phone, Back closes a drawer, and asks before it drops what was typed', async ({
  visit,
  root,
  site,
}) => {
  const hal = await createUser(root, 'hal');
  await newKey(await signedIn(site, hal), 'Website');
  const page = await visit({ as: hal, phone: true });
  await page.getByRole('button', { name: 'Open navigation' }).tap();
  await page.getByRole('navigation').getByRole('link', { name: 'Keys' }).tap();
  const create = page.getByRole('button', { name: 'Create key' });
  const form = page.getByRole('dialog', { name: 'Create a key' });
  const question = page.getByRole('dialog', { name: 'Discard what you typed?' });
  const name = form.getByLabel('Name');

  await create.tap();
  await visible(name);
  await page.goBack();
  await hidden(form);
  expect(page.url()).toBe(`${site}/keys`);

  await create.tap();
  await name.fill('Nightly evaluation');
  await page.goBack();
  await visible(question);
  await page.goBack();
  await hidden(question);
  expect(await name.inputValue()).toBe('Nightly evaluation');
  await page.goBack();
  await question.getByRole('button', { name: 'Discard' }).tap();
  await hidden(question, form);
  expect(page.url()).toBe(`${site}/keys`);

  // A closed form is no step of the history.
  await eventually(() => page.evaluate(() => window.history.state?.dialogs ?? 0)).toBe(0);
  await page.goBack();
  await visible(page.getByRole('heading', { name: 'Overview' }));
});

test('cards have the order that tables have in their headers', async ({ visit, root, site }) => {
  const hal = await createUser(root, 'hal');
  const api = await signedIn(site, hal);
  for (const name of ['Beta', 'Alpha', 'Gamma']) await newKey(api, name);
  const page = await visit({ as: hal, path: '/keys', phone: true });
  const names = () => page.getByRole('list', { name: 'Your keys' }).getByRole('link').allInnerTexts();
  await eventually(names).toEqual(['Gamma', 'Alpha', 'Beta']);
  await page.getByRole('combobox', { name: 'Order' }).click();
  await page.getByRole('option', { name: 'Name A–Z' }).click();
  await eventually(names).toEqual(['Alpha', 'Beta', 'Gamma']);
});
