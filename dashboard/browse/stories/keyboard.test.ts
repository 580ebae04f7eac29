import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { newPerson } from '../harness/people';
import { see } from '../harness/see';
import { test } from '../harness/test';

const STEPS = 40;

/** Presses Tab until this has the focus. */
async function tabTo(page: Page, role: 'link' | 'button' | 'textbox', name: string) {
  const target = page.getByRole(role, { name, exact: true });
  await see(target);
  for (let step = 0; step < STEPS; step += 1) {
    if (await target.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`${role} “${name}” cannot be reached by the keyboard`);
}

test('somebody without a mouse signs in, makes a key, and stands where they began', async ({
  visit,
  root,
}) => {
  const gil = await newPerson(root, 'gil');
  const page = await visit();

  await tabTo(page, 'textbox', 'Username');
  await page.keyboard.type(gil.username);
  await page.keyboard.press('Tab');
  await page.keyboard.type(gil.password);
  await page.keyboard.press('Enter');
  await see(page.getByRole('heading', { name: 'Overview' }));

  await tabTo(page, 'link', 'Skip to content');
  await see(page.getByRole('link', { name: 'Skip to content' }));
  await tabTo(page, 'link', 'Keys');
  await page.keyboard.press('Enter');
  await see(page.getByText('No keys yet'));
  await page.keyboard.press('Tab');
  expect(await focused(page)).toBe('Create key');
  await page.keyboard.press('Enter');

  await see(page.getByRole('dialog', { name: 'Create a key' }));
  await page.keyboard.type('By hand');
  await tabTo(page, 'textbox', 'Quota');
  await page.keyboard.type('1');
  await page.keyboard.press('Enter');

  const shown = page.getByRole('dialog', { name: 'Your new key' });
  await see(shown);
  await tabTo(page, 'button', 'I have kept it');
  await page.keyboard.press('Enter');
  await see(page.getByRole('link', { name: 'By hand' }));
  await expect.poll(() => focused(page)).toBe('Create key');
});

/** The words on what has the focus. */
function focused(page: Page): Promise<string> {
  return page.evaluate(() => document.activeElement?.textContent?.trim() ?? '');
}
