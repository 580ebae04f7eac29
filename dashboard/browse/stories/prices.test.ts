import type { Page } from '@playwright/test';
import { violations } from '../harness/accessibility';
import { asRoot, createUser, newKey, ROOT, signedIn } from '../harness/accounts';
import { eventually } from '../harness/eventually';
import { asGateway } from '../harness/gateway';
import { cutOff } from '../harness/layout';
import { waitPastMidnight } from '../harness/midnight';
import { OWN_FILE, PROVIDERS, setPrices, setTwoPriceLists } from '../harness/prices';
import { horizontalOverflow } from '../harness/scrolling';
import { expect, test } from '../harness/test';
import { hidden, visible } from '../harness/visibility';

const GROUPS = `
[groups.default]
description = "Default"
ratio = "1"
open = true

[groups.batch]
description = "Batch"
ratio = "0.85"
open = true
`;

const tableOf = (page: Page) => page.getByRole('table', { name: 'Prices' });

test('everyone sees what models cost, and finds the price of a model', async ({ visit, startServer }) => {
  const server = await startServer({ settingsFile: GROUPS });
  const root = await asRoot(server.url);
  const many = Array.from({ length: 30 }, (_, n) => [`many-${n}`, { input_mtok: '1', output_mtok: '2' }]);
  const models = { ...OWN_FILE.models, ...Object.fromEntries(many) };
  await setPrices(root, { file: { ...OWN_FILE, models }, data: PROVIDERS });
  const mia = await createUser(root, 'mia');
  const page = await visit({ as: mia, site: server.url });
  await page.getByRole('link', { name: 'Prices' }).click();
  await visible(page.getByRole('heading', { level: 1, name: 'Prices' }));
  const table = tableOf(page);
  await visible(
    page.getByText(/In force since .+ Your groups: batch × 0\.85, default × 1\./),
    page.getByText('1–20 of 37'),
    table.getByRole('row', { name: 'house-* Own price $0.10 $0.40 – – $2.00 per 1,000 requests Calculate' }),
    table.getByText('$0.000000001'),
  );
  await eventually(() => table.getByRole('row').count()).toBe(21);
  await hidden(page.getByRole('button', { name: 'Edit prices' }));
  await hidden(page.getByRole('heading', { name: 'Versions of the price list' }));
  expect(await violations(page.locator('main'))).toEqual([]);

  await page.getByRole('navigation', { name: 'Pages' }).getByRole('button', { name: '2' }).click();
  await visible(
    table.getByRole('row', { name: 'sonnet Own price price of anthropic' }),
    table.getByRole('row', { name: 'claude-sonnet anthropic $3.00 $15.00 $0.30 $3.75 1 hour: $6.00' }),
    table.getByRole('row', { name: 'whisper-1 openai $0.36 per hour of audio' }),
  );
  expect(await cutOff(table)).toEqual([]);
  expect(page.url()).toBe(`${server.url}/prices?page=2`);

  const search = page.getByRole('searchbox', { name: 'Filter by model' });
  await search.fill('openai/GPT-5');
  await eventually(() => table.getByRole('row').count()).toBe(2);
  expect(page.url()).toBe(`${server.url}/prices?q=openai%2FGPT-5`);
  const gpt = table.getByRole('row', { name: 'gpt-5.5 openai' });
  await visible(
    gpt.getByText('above 272,000 input tokens: $10.00'),
    gpt.getByText('$10.00 per 1,000 web searches'),
  );
  // Rates of a service tier, by keyboard.
  await hidden(gpt.getByText('service tier: priority'));
  await gpt.getByText('Other rates: priority, flex').focus();
  await page.keyboard.press('Enter');
  await visible(gpt.getByText('service tier: priority'), gpt.getByText('Output: $60.00'));
  expect(await violations(page.locator('main'))).toEqual([]);

  await search.fill('sonnet');
  await eventually(() => table.getByRole('row').count()).toBe(3);
  await page.getByText('Only own prices').click();
  await eventually(() => table.getByRole('row').count()).toBe(2);
  expect(page.url()).toBe(`${server.url}/prices?q=sonnet&own=true`);
  await search.fill('llama');
  await visible(page.getByText('Nothing found'));
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await visible(page.getByText('1–20 of 37'));

  await search.fill('gpt-5.5');
  await page.setViewportSize({ width: 320, height: 700 });
  const card = page.getByRole('list', { name: 'Prices' }).getByRole('listitem').first();
  await visible(card.getByText('gpt-5.5', { exact: true }), card.getByText('$30.00'));
  await card.getByText('Other rates: priority, flex').click();
  await visible(card.getByText('service tier: flex'));
  await eventually(() => horizontalOverflow(page)).toBe(0);
  expect(await violations(page.locator('main'))).toEqual([]);
});

test('everyone calculates what a request would cost, and from which rates', async ({
  visit,
  startServer,
}) => {
  const server = await startServer({ settingsFile: GROUPS });
  const root = await asRoot(server.url);
  await setTwoPriceLists(root);
  const mia = await createUser(root, 'mia');
  const expected = [/^400 POST \/api\/prices\/cost/, /^403 POST \/api\/prices\/cost/];
  const page = await visit({ as: mia, site: server.url, path: '/prices', expected });
  const asked: string[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/api/prices/cost')) asked.push(request.postData() ?? '');
  });
  const calculator = page.getByRole('region', { name: 'What would a request cost?' });
  await page.getByRole('button', { name: 'Calculate a cost' }).click();
  await expect(calculator.getByLabel('Model')).toBeFocused();
  await tableOf(page).getByRole('button', { name: 'Calculate: gpt-5.5' }).click();
  await expect(calculator.getByLabel('Model')).toHaveValue('gpt-5.5');
  await expect(calculator.getByLabel('Provider')).toHaveValue('openai');
  const input = calculator.getByLabel('Input tokens', { exact: true });
  await expect(input).toBeFocused();
  await visible(calculator.getByText('Enter a model and an amount.'));

  await input.fill('1,000');
  await calculator.getByLabel('Output tokens').fill('100');
  await calculator.getByLabel('Cached input tokens').fill('600');
  await visible(
    calculator.getByText('400 input tokens × $5.00 per million = $0.002'),
    calculator.getByText('600 cached input tokens × $0.50 per million = $0.0003'),
    calculator.getByText('100 output tokens × $30.00 per million = $0.003'),
    calculator.getByText('Ratio of the group: × 1'),
    calculator.getByText('Would be charged$0.00532,650 units'),
  );
  expect(asked.length, 'not for each letter').toBeLessThanOrEqual(3);
  expect(await violations(calculator)).toEqual([]);

  await calculator.getByRole('combobox', { name: 'Service tier' }).click();
  await page.getByRole('option', { name: 'priority' }).click();
  await calculator.getByRole('combobox', { name: 'Group' }).click();
  await page.getByRole('option', { name: 'batch' }).click();
  await calculator.getByRole('combobox', { name: 'Add another unit' }).click();
  await page.getByRole('option', { name: 'Web searches' }).click();
  await calculator.getByLabel('Web searches').fill('2');
  await visible(
    calculator.getByText('400 input tokens × $10.00 per million = $0.004'),
    calculator.getByText('2 web searches × $10.00 per 1,000 = $0.02'),
    calculator.getByText('Ratio of the group: × 0.85'),
  );

  await calculator.getByLabel('Cached input tokens').fill('2000');
  await visible(
    calculator.getByRole('alert').getByText(/“cache_read_tokens” counts a part of “input_tokens”/),
  );
  await calculator.getByLabel('Cached input tokens').fill('many');
  await visible(calculator.getByText('Enter a number.'));
  await calculator.getByLabel('Cached input tokens').fill('');
  await calculator.getByLabel('Provider').fill('');
  await calculator.getByLabel('Model').fill('o3');
  await visible(calculator.getByRole('alert').getByText(/The model "o3" has no price/));
  await hidden(calculator.getByRole('link', { name: 'Add a price: o3' }));

  await page.setViewportSize({ width: 320, height: 700 });
  await calculator.getByLabel('Model').fill('house-of-cards');
  await visible(calculator.getByText('1,000 input tokens × $0.12 per million = $0.00012'));
  await eventually(() => horizontalOverflow(page)).toBe(0);
  expect(await cutOff(calculator)).toEqual([]);
});

test('administrators set a former version of the prices again', async ({ visit, startServer }) => {
  const server = await startServer({ settingsFile: '[prices]\no3 = { prompt = "1", completion = "2" }' });
  const root = await asRoot(server.url);
  await setTwoPriceLists(root);
  const expected = [/^409 PUT \/api\/admin\/prices/, /^412 PUT \/api\/admin\/prices/];
  const page = await visit({ as: ROOT, site: server.url, path: '/prices', expected });
  const versions = page.getByRole('table', { name: 'Versions of the price list' });
  await visible(
    versions.getByRole('row', { name: /^3 In force .+ root Dearer input$/ }),
    versions.getByRole('row', { name: /^2 .+ root The models of two providers Set again: version 2$/ }),
    versions.getByRole('row', { name: /^1 .+ Settings file .*Set again: version 1$/ }),
  );
  await hidden(versions.getByRole('button', { name: 'Set again: version 3' }));

  await versions.getByRole('button', { name: 'Set again: version 2' }).click();
  const again = page.getByRole('dialog', { name: 'Set version 2 again?' });
  await visible(again.getByText('takes the place of version 3'));
  expect(await violations(again)).toEqual([]);
  await again.getByRole('button', { name: 'Set again' }).click();
  await hidden(again);
  await visible(
    page.getByText('Version 4 of the prices is in force.'),
    versions.getByRole('row', { name: /^4 In force/ }),
    tableOf(page).getByRole('row', { name: 'house-* Own price $0.10' }),
  );

  // The first list has no price of a model of the others.
  await versions.getByRole('button', { name: 'Set again: version 1' }).click();
  const first = page.getByRole('dialog', { name: 'Set version 1 again?' });
  // Somebody else sets one meanwhile.
  await setPrices(root, { file: { models: { o3: { input_mtok: '10', output_mtok: '20' } } } });
  await first.getByRole('button', { name: 'Set again' }).click();
  await visible(first.getByRole('alert').getByText('Someone set another price list meanwhile.'));
  await visible(first.getByText('takes the place of version 5'));
  await first.getByRole('button', { name: 'Set again' }).click();
  await visible(first.getByRole('alert').getByText(/o3: input_tokens from 10 to 1/));
  expect(await violations(first)).toEqual([]);
  await first.getByRole('button', { name: 'Set anyway' }).click();
  await hidden(first);
  await visible(versions.getByRole('row', { name: /^6 In force/ }));
});

test('administrators edit their own prices, and lose nothing that the server refuses', async ({
  visit,
  startServer,
}) => {
  const server = await startServer();
  const root = await asRoot(server.url);
  await setTwoPriceLists(root);
  const expected = [/^(400|409|412) PUT \/api\/admin\/prices/];
  const page = await visit({ as: ROOT, site: server.url, path: '/prices?add=o3', expected });
  // Wide enough for a table with the longest of these prices.
  await page.setViewportSize({ width: 1440, height: 900 });
  const adding = page.getByRole('dialog', { name: 'Add a price: o3' });
  const file = adding.getByLabel('Own prices (JSON)');
  await expect(file).toHaveValue(/"o3": { "input_mtok": "…", "output_mtok": "…" },\n {4}"sonnet"/);
  await adding.getByRole('button', { name: 'Save' }).click();
  await visible(adding.getByText(/This price list cannot be used\. The model "o3"/));
  await expect(file).toHaveValue(/"o3": { "input_mtok": "…"/);
  const text = (await file.inputValue()).replaceAll('"…"', '0.10000000000000001');
  await file.fill(`${text}}`);
  await adding.getByRole('button', { name: 'Save' }).click();
  await visible(adding.getByText(/This is not valid JSON/));
  expect(await violations(adding)).toEqual([]);
  await file.fill(text);
  await adding.getByLabel('Note').fill('For the archive');
  await adding.getByRole('button', { name: 'Save' }).click();
  await hidden(adding);
  expect(page.url()).toBe(`${server.url}/prices`);
  await visible(
    page.getByText('Version 3 of the prices is in force.'),
    tableOf(page).getByRole('row', { name: 'o3 Own price $0.10000000000000001' }),
    page.getByRole('row', { name: /^3 In force .+ For the archive$/ }),
  );

  await page.getByRole('button', { name: 'Edit prices' }).click();
  const dialog = page.getByRole('dialog', { name: 'Edit prices' });
  const edited = dialog.getByLabel('Own prices (JSON)');
  await expect(edited).toHaveValue(/"input_mtok": 0\.10000000000000001/);
  const dearer = (await edited.inputValue()).replaceAll('0.10000000000000001', '5');
  await edited.fill(dearer);
  // Somebody else sets other prices meanwhile.
  await setPrices(root, {
    file: { ...OWN_FILE, models: { ...OWN_FILE.models, o3: { input_mtok: '0.20', output_mtok: '1' } } },
  });
  await dialog.getByRole('button', { name: 'Save' }).click();
  await visible(
    dialog.getByRole('alert').getByText('Someone set another price list meanwhile.'),
    dialog.getByText('Version 4, now in force. Saving replaces it'),
    dialog.locator('pre').getByText('"input_mtok": "0.20"'),
  );
  await expect(edited).toHaveValue(dearer);
  expect(await violations(dialog)).toEqual([]);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await visible(dialog.getByRole('alert').getByText(/o3: input_tokens from 0\.2 to 5/));
  await expect(edited).toHaveValue(dearer);
  await dialog.getByRole('button', { name: 'Set anyway' }).click();
  await hidden(dialog);
  await visible(tableOf(page).getByRole('row', { name: 'o3 Own price $5.00 $5.00' }));

  await page.getByRole('button', { name: 'Edit prices' }).click();
  await edited.fill('{}');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Keep editing' }).click();
  await expect(edited).toHaveValue('{}');
  await page.setViewportSize({ width: 320, height: 700 });
  await eventually(() => horizontalOverflow(page)).toBe(0);
  expect(await cutOff(dialog)).toEqual([]);
});

test('without prices, the page says what they are for, and administrators add them', async ({
  visit,
  root,
}) => {
  const mia = await createUser(root, 'mia', { token_api_enabled: false });
  const page = await visit({ as: mia, path: '/prices' });
  await visible(page.getByText('No prices yet'), page.getByText(/the command keymeter prices set/));
  await hidden(page.getByRole('button', { name: 'Edit prices' }));

  const admin = await visit({ as: ROOT, path: '/prices' });
  await admin.getByRole('button', { name: 'Edit prices' }).click();
  const dialog = admin.getByRole('dialog', { name: 'Edit prices' });
  await expect(dialog.getByLabel('Own prices (JSON)')).toHaveValue(
    '{\n  "models": {\n    "gpt-5.5*": { "input_mtok": "…", "output_mtok": "…" }\n  }\n}',
  );
  await visible(dialog.getByText(/keymeter prices set prices\.json/));
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await hidden(dialog);
  expect(await violations(admin.locator('main'))).toEqual([]);
  await admin.setViewportSize({ width: 320, height: 700 });
  await eventually(() => horizontalOverflow(admin)).toBe(0);
});

test('a refusal of a model without a price says who ends it, and leads administrators to the price', async ({
  visit,
  root,
  site,
}) => {
  const mia = await createUser(root, 'mia');
  const { id, key } = await newKey(await signedIn(site, mia), 'Crawler');
  const gateway = await asGateway(site, root);
  await waitPastMidnight();
  const model = `o3-${process.pid}`;
  const counts = { prompt_tokens: 1000, completion_tokens: 10 };
  const answer = await gateway.POST('/api/gateway/charge', { body: { key, model, ...counts } });
  expect(answer.error).toMatchObject({ error: 'model_not_priced' });

  const page = await visit({ as: mia, path: '/requests' });
  const refused = page.getByRole('table', { name: 'Requests' }).getByRole('row', { name: model });
  await eventually(async () => {
    await page.reload();
    await visible(page.getByRole('table', { name: 'Requests' }).or(page.getByText('No such request')));
    return refused.count();
  }).toBe(1);
  await visible(refused.getByText('Model without a price'));
  await refused.getByRole('link').click();
  const details = page.getByRole('dialog', { name: 'Request' });
  await visible(details.getByText('An administrator can add a price for this model.'));
  expect(await violations(details)).toEqual([]);

  const admin = await visit({ as: ROOT, path: `/admin/usage/requests?token_id=${id}` });
  await admin
    .getByRole('table', { name: 'Requests' })
    .getByRole('row', { name: model })
    .getByRole('link')
    .click();
  await admin.getByRole('link', { name: `Add a price: ${model}` }).click();
  const dialog = admin.getByRole('dialog', { name: `Add a price: ${model}` });
  await expect(dialog.getByLabel('Own prices (JSON)')).toHaveValue(
    new RegExp(`"${model}": { "input_mtok": "…", "output_mtok": "…" }`),
  );
  // Back and a reload do not open it again.
  expect(admin.url()).toBe(`${site}/prices`);
  expect(await violations(dialog)).toEqual([]);
});
