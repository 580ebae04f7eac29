import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { violations } from '../harness/accessibility';
import { createUser } from '../harness/accounts';
import { horizontalOverflow } from '../harness/scrolling';
import { test } from '../harness/test';
import { visible } from '../harness/visibility';

const run = promisify(execFile);
const copied = 'navigator.clipboard.readText()';

test('the examples of a new key run, and those of its page have a placeholder', async ({ visit, root }) => {
  const lea = await createUser(root, 'lea');
  const page = await visit({ as: lea });
  await page.goto('/keys?create');
  const form = page.getByRole('dialog', { name: 'Create a key' });
  await form.getByLabel('Name').fill('Website');
  await form.getByLabel('Quota').fill('5');
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
  await expect.poll(() => horizontalOverflow(page)).toBe(0);
});
