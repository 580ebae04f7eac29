import { violations } from '../harness/accessibility';
import { asRoot, createUser, newKey, ROOT, signedIn } from '../harness/accounts';
import { eventually } from '../harness/eventually';
import { asGateway } from '../harness/gateway';
import { cutOff } from '../harness/layout';
import { waitPastMidnight } from '../harness/midnight';
import { horizontalOverflow } from '../harness/scrolling';
import { expect, test } from '../harness/test';
import { hidden, visible } from '../harness/visibility';

const MANY = Array.from(
  { length: 30 },
  (_, n) => `"many-${n}" = { prompt = "0.000000001", completion = "2" }`,
);

// At the end of the list. Only its own end tells it from others.
const LONG = 'provider/region-1/a-model-with-a-long-name-of-sixty-characters';

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

const PRICES = `
[prices]
"gpt-5.5*" = { prompt = "5", completion = "30", cached = "0.5", above = { prompt_tokens = 272000, prompt = "10", completion = "45", cached = "1" } }
"o3" = { prompt = "1.25", completion = "10", request = "0.01" }
"${LONG}" = { prompt = "1", completion = "2" }
${MANY.join('\n')}
`;

test('everyone sees what models cost, and finds the price of a model', async ({ visit, startServer }) => {
  const server = await startServer({ settingsFile: GROUPS + PRICES });
  const mia = await createUser(await asRoot(server.url), 'mia');
  const page = await visit({ as: mia, site: server.url });
  await page.getByRole('link', { name: 'Prices' }).click();
  await visible(page.getByRole('heading', { level: 1, name: 'Prices' }));
  const table = page.getByRole('table', { name: 'Prices' });
  await visible(
    page.getByText(/In force since .+ Your groups: batch × 0\.85, default × 1\./),
    table.getByRole('row', { name: 'gpt-5.5* up to 272,000 input tokens $5.00 $30.00 $0.50 $0.00' }),
    table.getByRole('row', { name: 'gpt-5.5* above 272,000 input tokens $10.00 $45.00 $1.00 $0.00' }),
    table.getByRole('columnheader', { name: 'Per request' }),
  );
  // All cost as much as other input tokens.
  await hidden(table.getByRole('columnheader', { name: 'Cache write' }));
  await hidden(page.getByText('Add a price'));
  await visible(page.getByText('1–20 of 33'));
  await eventually(() => table.getByRole('row').count()).toBe(22);
  expect(await violations(page.locator('main'))).toEqual([]);

  await page.getByRole('navigation', { name: 'Pages' }).getByRole('button', { name: '2' }).click();
  await visible(table.getByRole('row', { name: 'o3 $1.25 $10.00 $1.25 $0.01' }));
  await visible(table.getByText('$0.000000001').first(), table.getByText(LONG));
  expect(await cutOff(table)).toEqual([]);
  expect(page.url()).toBe(`${server.url}/prices?page=2`);

  const search = page.getByRole('searchbox', { name: 'Filter by model' });
  await search.fill('GPT-5.5-mini');
  await eventually(() => table.getByRole('row').count()).toBe(3);
  await visible(table.getByRole('row', { name: 'gpt-5.5*' }).first());
  expect(page.url()).toBe(`${server.url}/prices?q=GPT-5.5-mini`);
  await search.fill('llama');
  await visible(page.getByText('Nothing found'));
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await visible(page.getByText('1–20 of 33'));

  await page.setViewportSize({ width: 320, height: 700 });
  const card = page.getByRole('list', { name: 'Prices' }).getByRole('listitem').first();
  await visible(card.getByText('gpt-5.5*'), card.getByText('$30.00'));
  await eventually(() => horizontalOverflow(page)).toBe(0);
  expect(await violations(page.locator('main'))).toEqual([]);
});

test('without prices, the page says what they are for, and administrators how to add one', async ({
  visit,
  root,
}) => {
  const mia = await createUser(root, 'mia', { token_api_enabled: false });
  const page = await visit({ as: mia, path: '/prices' });
  await visible(page.getByText('No prices yet'), page.getByText(/the command keymeter prices set/));
  await hidden(page.getByText('Add a price'));

  const admin = await visit({ as: ROOT, path: '/prices' });
  await visible(admin.getByText('No prices yet'), admin.getByRole('heading', { name: 'Add a price' }));
  await admin.getByRole('button', { name: 'Copy price' }).click();
  expect(await admin.evaluate(() => navigator.clipboard.readText())).toBe(
    '{\n  "models": {\n    "gpt-5.5*": { "input_mtok": "5", "output_mtok": "30", "cache_read_mtok": "0.5" }\n  }\n}',
  );
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
  await visible(
    refused.getByText('Model without a price'),
    refused.getByText('Ask an administrator to add a price for this model.'),
  );
  expect(await violations(page.locator('main'))).toEqual([]);

  const admin = await visit({ as: ROOT, path: `/admin/usage/requests?token_id=${id}` });
  await admin.getByRole('link', { name: `Add a price: ${model}` }).click();
  await visible(admin.getByRole('heading', { name: 'Add a price' }));
  expect(admin.url()).toBe(`${site}/prices?add=${model}`);
  await visible(admin.getByText(`"${model}": { "input_mtok": "…", "output_mtok": "…" }`));
  expect(await violations(admin.locator('main'))).toEqual([]);
});
