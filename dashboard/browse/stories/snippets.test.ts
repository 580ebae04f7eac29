import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { violations } from '../harness/accessibility';
import { asRoot, createUser, newKey, ROOT, signedIn } from '../harness/accounts';
import { eventually } from '../harness/eventually';
import { horizontalOverflow } from '../harness/scrolling';
import { expect, test } from '../harness/test';
import { hidden, visible } from '../harness/visibility';

const run = promisify(execFile);
const copied = 'navigator.clipboard.readText()';

test('the examples of a new key run, and those of its page have a placeholder', async ({ visit, root }) => {
  const lea = await createUser(root, 'lea');
  const page = await visit({ as: lea, path: '/keys?create' });
  const form = page.getByRole('dialog', { name: 'Create a key' });
  await form.getByLabel('Name').fill('Website');
  await form.getByLabel('Dollars in total').fill('5');
  await form.getByRole('button', { name: 'Create key' }).click();

  const shown = page.getByRole('dialog', { name: 'Your new key' });
  const key = await shown.getByText(/^sk-\w{48}$/).innerText();
  expect(await violations(shown)).toEqual([]);
  await shown.getByRole('button', { name: 'Copy example' }).click();
  const curl = String(await page.evaluate(copied));
  expect(curl).toContain(key);
  const { stdout } = await run('sh', ['-c', curl]);
  expect(JSON.parse(stdout).data).toMatchObject({ name: 'Website' });

  await shown.getByRole('tab', { name: 'curl' }).focus();
  await page.keyboard.press('ArrowRight');
  await visible(shown.getByText('urllib.request.Request'));
  await page.keyboard.press('ArrowRight');
  await visible(shown.getByRole('tab', { name: 'Node.js', selected: true }));
  await shown.getByRole('button', { name: 'Copy example' }).click();
  const node = String(await page.evaluate(copied));
  expect((await run(process.execPath, ['--input-type=module', '-e', node])).stdout).toContain('Website');
  await shown.getByRole('button', { name: 'Done' }).click();

  await page.getByRole('link', { name: 'Website' }).click();
  await visible(page.getByRole('heading', { name: 'Use this key' }));
  // The language is remembered.
  await visible(page.getByRole('tab', { name: 'Node.js', selected: true }));
  await visible(
    page.getByText('Replace YOUR_KEY with the key.'),
    page.getByText('Ask your administrator for its address.'),
  );
  expect(await page.content()).not.toContain(key);
  expect(await violations(page.locator('main'))).toEqual([]);
  await page.setViewportSize({ width: 320, height: 700 });
  await eventually(() => horizontalOverflow(page)).toBe(0);
});

test('with the address of the gateway, the examples call a model that the key may use', async ({
  visit,
  startServer,
}) => {
  const server = await startServer({
    settings: {
      KEYMETER_DASHBOARD__API_BASE_URL: 'https://llm.example.org/v1',
      KEYMETER_MODELS__NAMES: 'medium',
    },
  });
  const lea = await createUser(await asRoot(server.url), 'lea');
  const api = await signedIn(server.url, lea);
  const any = await newKey(api, 'Any');
  const limited = await newKey(api, 'Limited', { model_limits_enabled: true, model_limits: 'small,large' });
  const page = await visit({ as: lea, site: server.url, path: `/keys/${any.id}` });
  await visible(page.getByText('Base URL'), page.getByText('https://llm.example.org/v1', { exact: true }));
  await page.getByRole('button', { name: 'Copy base URL' }).click();
  expect(await page.evaluate(copied)).toBe('https://llm.example.org/v1');
  await visible(page.getByText('"model": "medium"'));
  await page.getByRole('tab', { name: 'Python' }).click();
  await visible(page.getByText('pip install openai'), page.getByText('model="medium"'));
  await page.goto(`/keys/${limited.id}`);
  await visible(page.getByText('model="small"'));
  await hidden(page.getByText('Ask your administrator for its address.'));
});

test('an administrator sees what is set and where, and no secret', async ({ visit, root }) => {
  const page = await visit({ as: ROOT });
  await page.getByRole('link', { name: 'Settings', exact: true }).click();
  const line = (name: string) => page.locator('dl > div').filter({ hasText: name });
  // The setting of these tests.
  const registration = line('accounts.registration');
  await visible(
    registration.getByText('KEYMETER_ACCOUNTS__REGISTRATION'),
    registration.getByText('open', { exact: true }),
    registration.getByText('Changed'),
  );
  await visible(
    line('accounts.contact').getByText('Not set'),
    line('root.password').getByText('Set', { exact: true }),
  );
  await visible(line('[groups.default]').getByText('Open to everyone'));
  expect(await page.content()).not.toContain(ROOT.password);
  expect(await violations(page.locator('main'))).toEqual([]);

  const max = await createUser(root, 'max');
  const other = await visit({ as: max, path: '/admin/settings' });
  await visible(other.getByRole('heading', { name: 'Administrators only' }));
});
