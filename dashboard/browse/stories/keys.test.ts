import { violations } from '../harness/accessibility';
import { createUser, done, newKey, signedIn } from '../harness/accounts';
import { eventually } from '../harness/eventually';
import { asGateway } from '../harness/gateway';
import { waitPastMidnight } from '../harness/midnight';
import { exported, showTable } from '../harness/pages';
import { expect, test } from '../harness/test';
import { hidden, visible } from '../harness/visibility';

test('a new user signs in, creates a key, copies it and finds it by search', async ({ visit, root }) => {
  const ada = await createUser(root, 'ada');
  const page = await visit();

  await visible(page.getByRole('heading', { name: 'Sign in' }));
  await page.getByLabel('Username').fill(ada.username);
  await page.getByRole('textbox', { name: 'Password' }).fill(ada.password);
  await page.getByRole('button', { name: 'Sign in' }).click();

  await visible(page.getByRole('heading', { name: 'Overview' }), page.getByText('$100.00'));
  await page.getByRole('link', { name: 'Create a key' }).click();
  const form = page.getByRole('dialog', { name: 'Create a key' });
  await form.getByLabel('Name').fill('Nightly evaluation');
  await form.getByLabel('Dollars in total').fill('12.50');
  await visible(form.getByText('$12.50 = 6,250,000 units'));
  await form.getByRole('button', { name: 'Create key' }).click();

  const shown = page.getByRole('dialog', { name: 'Your new key' });
  const key = await shown.getByText(/^sk-\w{48}$/).innerText();
  await shown.getByRole('button', { name: 'Copy', exact: true }).click();
  await visible(shown.getByRole('button', { name: 'Copied' }));
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(key);
  await shown.getByRole('button', { name: 'Done' }).click();
  await hidden(shown);
  expect(await page.content()).not.toContain(key);

  const mine = page.getByRole('link', { name: 'Nightly evaluation' });
  const search = page.getByRole('searchbox', { name: 'Search by name or key' });
  await visible(mine);
  await search.fill('nothing like it');
  await visible(page.getByText('No matching keys'));
  await search.fill('EVALU');
  await visible(mine);
  await search.fill('sk-no-such-key');
  await visible(page.getByText('No matching keys'));
  await search.fill(key.slice(0, 20));
  await visible(mine);
  await search.fill('nothing like it');
  await visible(page.getByText('No matching keys'));
  await search.fill(key.slice(-4));
  await visible(mine);
});

test('a search with a percent sign stays as typed', async ({ visit, root, site }) => {
  const eva = await createUser(root, 'eva');
  const api = await signedIn(site, eva);
  await newKey(api, '100%beta');
  await newKey(api, 'Other');
  const page = await visit({ as: eva });
  await page.getByRole('link', { name: 'Keys', exact: true }).click();

  const search = page.getByRole('searchbox', { name: 'Search by name or key' });
  const found = page.getByRole('link', { name: '100%beta' });
  await visible(found);
  await search.fill('100%beta');
  await hidden(page.getByRole('link', { name: 'Other' }));
  await visible(found);
  expect(await search.inputValue()).toBe('100%beta');
  await page.reload();
  await visible(found);
  await hidden(page.getByRole('link', { name: 'Other' }));
  expect(await search.inputValue()).toBe('100%beta');
});

test('a key is edited, disabled, enabled and deleted', async ({ visit, root, site }) => {
  const ada = await createUser(root, 'ada');
  const api = await signedIn(site, ada);
  const { id } = await newKey(api, 'Prototype');
  const page = await visit({ as: ada, expected: [/^400 PUT \/api\/token\/$/] });
  await page.getByRole('link', { name: 'Keys', exact: true }).click();

  const row = page.getByRole('row', { name: 'Prototype' });
  await row.getByRole('button', { name: 'Actions for Prototype' }).click();
  await page.getByRole('menuitem', { name: 'Edit' }).click();
  const form = page.getByRole('dialog', { name: 'Edit “Prototype”' });
  await form.getByText('Set', { exact: true }).click();
  await form.getByLabel('Dollars in total').fill('20.000002');
  await form.getByText('Advanced').click();
  await form.getByLabel('Allowed IP addresses').fill('192.0.2.0/24');
  const note = form.getByRole('textbox', { name: 'Note' });
  await note.fill('A control character: \u0007');
  await form.getByRole('button', { name: 'Save changes' }).click();
  await eventually(() => note.getAttribute('aria-invalid')).toBe('true');
  await note.fill('Owner: data team\nRenew in spring\n');
  await form.getByRole('button', { name: 'Save changes' }).click();
  await hidden(form);
  await visible(row.getByText('$20.00 left'), row.getByText('Owner: data team'));
  const edited = await done(api.GET('/api/token/{id}', { params: { path: { id } } }));
  expect(edited).toMatchObject({
    remain_quota: 10_000_001,
    allow_ips: '192.0.2.0/24',
    note: 'Owner: data team\nRenew in spring',
  });

  const isOn = row.getByRole('switch', { name: 'Allow requests with Prototype' });
  // The page shows it before the server has answered, and a reload would cancel the request.
  const saved = page.waitForResponse((response) => response.request().method() === 'PUT');
  await isOn.click();
  await visible(row.getByText('Disabled'));
  await saved;
  await page.reload();
  await visible(row.getByText('Disabled'));
  await isOn.click();
  await visible(row.getByText('Enabled'));

  await row.getByRole('button', { name: 'Actions for Prototype' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  const question = page.getByRole('dialog', { name: 'Delete this key?' });
  await visible(question.getByText('Prototype'));
  await question.getByRole('button', { name: 'Delete key' }).click();
  await visible(page.getByText('Deleted 1 key.'), page.getByText('No keys yet'));
});

test('quota is added to a key that is charged while its form is open', async ({ visit, root, site }) => {
  const ada = await createUser(root, 'ada');
  const api = await signedIn(site, ada);
  const { id, key } = await newKey(api, 'Live');
  const gateway = await asGateway(site, root);
  const left = async () =>
    (await done(api.GET('/api/token/{id}/details', { params: { path: { id } } }))).remain_quota;
  const page = await visit({ as: ada, expected: [/^409 PUT \/api\/token\/$/], path: `/keys/${id}` });
  const form = page.getByRole('dialog', { name: 'Edit “Live”' });
  const amount = form.getByLabel('Amount (USD)');
  const save = form.getByRole('button', { name: 'Save changes' });

  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  await amount.fill('5');
  await visible(form.getByText('$10.00 left now, $15.00 after saving.'));
  expect(await violations(form)).toEqual([]);
  await done(gateway.POST('/api/gateway/charge', { body: { key, quota: 1_000_000 } }));
  await save.click();
  await hidden(form);
  expect(await left()).toBe(6_500_000);
  await visible(page.getByText('$13.00 left'));

  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  await form.getByText('Take', { exact: true }).click();
  await amount.fill('13.01');
  await save.click();
  await visible(form.getByText('The key has $13.00 left. Enter at most that.'));
  await amount.fill('13');
  await done(gateway.POST('/api/gateway/charge', { body: { key, quota: 500_000 } }));
  await save.click();
  await eventually(() => amount.getAttribute('aria-invalid')).toBe('true');
  await amount.fill('12');
  await save.click();
  await hidden(form);
  expect(await left()).toBe(0);
});

test('a new key has a limit or is unlimited on purpose, and what few need is folded', async ({
  visit,
  root,
  site,
}) => {
  const eva = await createUser(root, 'eva');
  const api = await signedIn(site, eva);
  const page = await visit({ as: eva, path: '/keys' });
  const form = page.getByRole('dialog', { name: 'Create a key' });
  const create = form.getByRole('button', { name: 'Create key' });
  const created = page.getByRole('dialog', { name: 'Your new key' });
  const total = form.getByLabel('Dollars in total');
  const addresses = form.getByLabel('Allowed IP addresses');

  // A list without keys has the button, too.
  await page.getByRole('button', { name: 'Create key' }).first().click();
  await form.getByLabel('Name').fill('Daily');
  await create.click();
  await visible(form.getByText('Enter at least one amount, or turn on “Unlimited”.'));
  await total.fill('0');
  await visible(form.getByText('With nothing left, the key can’t be used.'));
  await total.fill('');
  await form.getByRole('button', { name: '$5 a day' }).click();
  await hidden(addresses);
  await form.getByText('Advanced').click();
  await addresses.fill('here');
  await form.getByText('Advanced').click();
  await hidden(addresses);
  await create.click();
  await eventually(() => addresses.evaluate((element) => element === document.activeElement)).toBe(true);
  expect(await violations(form)).toEqual([]);
  await addresses.fill('192.0.2.1');
  await create.click();
  await created.getByRole('button', { name: 'Done' }).click();

  await page.getByRole('button', { name: 'Create key' }).click();
  await form.getByLabel('Name').fill('Free');
  await form.getByRole('switch', { name: 'Unlimited' }).click();
  await hidden(total, form.getByLabel('Dollars per day'));
  await create.click();
  await created.getByRole('button', { name: 'Done' }).click();
  const { items } = await done(api.GET('/api/token/'));
  expect(items).toMatchObject([
    { name: 'Free', unlimited_quota: true, period_limits: { day: -1 } },
    { name: 'Daily', unlimited_quota: true, period_limits: { day: 2_500_000 }, allow_ips: '192.0.2.1' },
  ]);

  await page.getByRole('button', { name: 'Actions for Daily' }).click();
  await page.getByRole('menuitem', { name: 'Edit' }).click();
  await visible(page.getByRole('dialog', { name: 'Edit “Daily”' }).getByLabel('Allowed IP addresses'));
});

test('Esc and Cancel ask before they discard what was typed, and only then', async ({ visit, root }) => {
  const eva = await createUser(root, 'eva');
  const page = await visit({ as: eva, path: '/keys' });
  const form = page.getByRole('dialog', { name: 'Create a key' });
  const question = page.getByRole('dialog', { name: 'Discard what you typed?' });
  const name = form.getByLabel('Name');
  const open = async () => {
    await page.getByRole('button', { name: 'Create key' }).first().click();
    await eventually(() => name.evaluate((element) => element === document.activeElement)).toBe(true);
  };
  await open();
  await page.keyboard.press('Escape');
  await hidden(form, question);

  await open();
  await page.keyboard.type('Website');
  await page.keyboard.press('Escape');
  await visible(question);
  expect(await violations(question)).toEqual([]);
  await page.keyboard.press('Escape');
  await hidden(question);
  expect(await name.inputValue()).toBe('Website');
  await eventually(() => name.evaluate((element) => element === document.activeElement)).toBe(true);
  await form.getByRole('button', { name: 'Cancel' }).click();
  await question.getByRole('button', { name: 'Discard' }).click();
  await hidden(form, question);
  await open();
  expect(await name.inputValue()).toBe('');
});

test('a key is duplicated with its settings, from its row and from its page', async ({
  visit,
  root,
  site,
}) => {
  const eva = await createUser(root, 'eva');
  const api = await signedIn(site, eva);
  const limits = { day: 500_000, week: -1, month: -1 };
  const { id, key } = await newKey(api, 'Website', { period_limits: limits, allow_ips: '192.0.2.1' });
  const gateway = await asGateway(site, root);
  await done(gateway.POST('/api/gateway/charge', { body: { key, quota: 100_000 } }));
  const page = await visit({ as: eva, path: '/keys' });
  const menu = page.getByRole('button', { name: 'Actions for Website', exact: true });
  const form = page.getByRole('dialog', { name: 'Duplicate “Website”' });
  const created = page.getByRole('dialog', { name: 'Your new key' });

  await menu.click();
  await page.getByRole('menuitem', { name: 'Duplicate' }).click();
  expect(await form.getByLabel('Name').inputValue()).toBe('Website copy');
  expect(await form.getByLabel('Dollars in total').inputValue()).toBe('10');
  await form.getByRole('button', { name: 'Create key' }).click();
  await created.getByRole('button', { name: 'Done' }).click();
  await eventually(() => menu.evaluate((element) => element === document.activeElement)).toBe(true);
  await visible(page.getByRole('link', { name: 'Website copy' }));
  const { items } = await done(api.GET('/api/token/'));
  expect(items[0]).toMatchObject({
    name: 'Website copy',
    remain_quota: 5_000_000,
    used_quota: 0,
    period_limits: limits,
    allow_ips: '192.0.2.1',
  });

  await page.goto(`/keys/${id}`);
  await menu.click();
  await page.getByRole('menuitem', { name: 'Duplicate' }).click();
  await form.getByLabel('Name').fill('Second copy');
  await form.getByRole('button', { name: 'Create key' }).click();
  await visible(created);
});

test('a key limited to no model is not saved', async ({ visit, root }) => {
  const eva = await createUser(root, 'eva');
  const page = await visit({ as: eva });
  await page.getByRole('link', { name: 'Create a key' }).click();
  const form = page.getByRole('dialog', { name: 'Create a key' });
  await form.getByLabel('Name').fill('Website');
  await form.getByLabel('Dollars in total').fill('5');
  await form.getByRole('switch', { name: 'Limit models' }).click();
  await form.getByRole('button', { name: 'Create key' }).click();
  await visible(form.getByText('Add at least one model.'));

  const models = form.getByLabel('Models', { exact: true });
  await models.fill('gpt-5');
  await models.press('Enter');
  await form.getByRole('button', { name: 'Create key' }).click();
  await visible(page.getByRole('dialog', { name: 'Your new key' }));
});

test('several keys are deleted together, and the others stay', async ({ visit, root, site }) => {
  const ada = await createUser(root, 'ada');
  const api = await signedIn(site, ada);
  for (const name of ['Website', 'Notebook', 'Translation']) await newKey(api, name);
  const page = await visit({ as: ada, path: '/keys' });

  await page.getByRole('checkbox', { name: 'Select Website' }).check();
  await page.getByRole('checkbox', { name: 'Select Translation' }).check();
  const selection = page.getByRole('region', { name: 'Selected keys' });
  await visible(selection.getByText('2 selected'));
  await selection.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete 2 keys' }).click();

  await hidden(page.getByRole('link', { name: 'Website' }), page.getByRole('link', { name: 'Translation' }));
  await visible(page.getByRole('link', { name: 'Notebook' }));
  await hidden(selection);
});

test('the page of a key shows its note and its usage, and exports the usage', async ({
  visit,
  root,
  site,
}) => {
  const ada = await createUser(root, 'ada');
  const { id, key } = await newKey(await signedIn(site, ada), 'Production chat', {
    note: 'Owner: data team',
  });
  const gateway = await asGateway(site, root);
  await waitPastMidnight();
  const charge = { key, quota: 750_000, prompt_tokens: 1200, completion_tokens: 34 };
  for (let request = 0; request < 2; request += 1) {
    await done(gateway.POST('/api/gateway/charge', { body: charge }));
  }
  const page = await visit({ as: ada, path: `/keys/${id}` });

  await visible(
    page.getByRole('heading', { name: 'Production chat' }),
    page.getByText('$7.00 left'),
    page.getByText('Owner: data team'),
  );
  await showTable(page);
  const total = page.getByRole('table', { name: 'Usage by day' }).getByRole('row', { name: 'Total' });
  await visible(total);
  expect(await total.innerText()).toMatch(/\$3\.00\s+2\s+2,400\s+68/);

  const today = new Date().toISOString().slice(0, 10);
  expect(await exported(page, 'CSV by day and model')).toEqual([
    'date,model,requests,prompt_tokens,completion_tokens,quota,usd',
    `${today},,2,2400,68,1500000,3`,
  ]);

  await page.getByRole('button', { name: 'Reveal key' }).click();
  await visible(page.getByRole('dialog').getByText(key));
});

test('a key gets a limit of $5 a day, which its page shows, and loses it again', async ({
  visit,
  root,
  site,
}) => {
  const ada = await createUser(root, 'ada');
  const api = await signedIn(site, ada);
  const { id, key } = await newKey(api, 'Night job');
  const gateway = await asGateway(site, root);
  await waitPastMidnight();
  await done(gateway.POST('/api/gateway/charge', { body: { key, quota: 1_600_000 } }));
  const limits = async () =>
    (await done(api.GET('/api/token/{id}', { params: { path: { id } } }))).period_limits;
  const page = await visit({ as: ada, path: `/keys/${id}` });
  const bar = page.getByRole('progressbar', { name: '64% of the daily limit used' });
  const form = page.getByRole('dialog', { name: 'Edit “Night job”' });
  const day = form.getByLabel('Dollars per day');

  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  await form.getByLabel('Dollars per month').fill('five');
  await form.getByRole('button', { name: 'Save changes' }).click();
  await visible(form.getByText('Enter an amount like 12.50.'));
  await form.getByLabel('Dollars per month').fill('');
  await day.fill('3');
  await visible(form.getByText('$3.20 has been used today. Requests will be refused until the day ends.'));
  await form.getByRole('button', { name: '$5 a day' }).click();
  expect(await day.inputValue()).toBe('5');
  await form.getByRole('button', { name: 'Save changes' }).click();
  await hidden(form);
  await visible(bar, page.getByText('$3.20 of $5.00 today'), page.getByText(/^resets in /));
  expect(await limits()).toEqual({ day: 2_500_000, week: -1, month: -1 });
  expect(await violations(page.locator('main'))).toEqual([]);

  await done(gateway.POST('/api/gateway/charge', { body: { key, quota: 900_000 } }));
  await page.goto('/keys');
  const row = page.getByRole('row', { name: 'Night job' });
  await visible(row.getByText('$5.00 of $5.00 today'), row.getByText('used up', { exact: true }));
  await row.getByRole('link', { name: 'Night job' }).click();
  await visible(page.getByText('Requests with this key are refused until then.'));

  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  await day.fill('');
  await form.getByRole('button', { name: 'Save changes' }).click();
  await hidden(form, page.getByText('$5.00 of $5.00 today'));
  expect(await limits()).toEqual({ day: -1, week: -1, month: -1 });
});

test('the form keeps its input when the server refuses the key', async ({ visit, root, site }) => {
  const ada = await createUser(root, 'ada', { max_tokens: 1 });
  await newKey(await signedIn(site, ada), 'The only one');
  const page = await visit({ as: ada, expected: [/^409 POST \/api\/token/], path: '/keys' });

  await page.getByRole('button', { name: 'Create key' }).click();
  const form = page.getByRole('dialog', { name: 'Create a key' });
  await form.getByLabel('Name').fill('One too many');
  await form.getByLabel('Dollars in total').fill('3');
  await form.getByText('Advanced').click();
  await form.getByLabel('Allowed IP addresses').fill('2001:db8::/32');
  await form.getByRole('button', { name: 'Create key' }).click();

  await visible(form.getByRole('alert'));
  expect(await form.getByRole('alert').innerText()).toMatch(/limit|at most/i);
  expect(await form.getByLabel('Name').inputValue()).toBe('One too many');
  expect(await form.getByLabel('Dollars in total').inputValue()).toBe('3');
  expect(await form.getByLabel('Allowed IP addresses').inputValue()).toBe('2001:db8::/32');
});

test('too many searches show a countdown', async ({ visit, root, site }) => {
  const ada = await createUser(root, 'ada');
  const api = await signedIn(site, ada);
  await newKey(api, 'Website');
  const page = await visit({ as: ada, expected: [/^429 POST \/api\/token\/search/], path: '/keys' });
  await visible(page.getByRole('link', { name: 'Website' }));
  for (let search = 0; search < 10; search += 1) {
    await done(api.GET('/api/token/search', { params: { query: { keyword: 'website' } } }));
  }
  await page.getByRole('searchbox', { name: 'Search by name or key' }).fill('sk-ab');
  await visible(page.getByText(/Retrying in \d+ s/));
});
