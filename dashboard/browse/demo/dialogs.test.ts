import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { violations } from '../harness/accessibility';
import { ROOT } from '../harness/accounts';
import { ANA, open } from '../harness/pages';
import { enlargedScrolling } from '../harness/scrolling';
import { test } from '../harness/test';
import { hidden } from '../harness/visibility';

for (const colorScheme of ['light', 'dark'] as const) {
  test(`the dialogs about keys and access tokens are accessible: ${colorScheme}`, async ({ visit }) => {
    const page = await visit({ as: ANA, colorScheme });

    await open(page, '/keys');
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('dialog').getByLabel('Limit models').check();
    await check(page, 'Create a key');

    await fromMenu(page, 'Northwind (customer)', 'Edit');
    await check(page, 'Edit “Northwind (customer)”');
    await fromMenu(page, 'Prototype', 'Delete');
    await check(page, 'Delete this key?');
    await fromMenu(page, 'Prototype', 'Reveal key');
    await check(page, 'Key “Prototype”');
    await page.getByRole('checkbox', { name: 'Select Prototype' }).check();
    expect(await violations(page.getByRole('region', { name: 'Selected keys' }))).toEqual([]);

    await open(page, '/profile');
    await page.getByRole('button', { name: 'Create access token' }).click();
    await check(page, 'Create an access token');
    await page.getByRole('button', { name: 'Account: Ana Silva' }).click();
    expect(await violations(page.getByRole('menu'))).toEqual([]);
  });

  test(`the administration dialogs are accessible: ${colorScheme}`, async ({ visit }) => {
    const page = await visit({ as: ROOT, colorScheme });

    await open(page, '/admin/users');
    await page.getByRole('button', { name: 'New user' }).click();
    await check(page, 'New user');
    await fromMenu(page, 'ben', 'Edit…');
    await check(page, 'Edit ben');
    await fromMenu(page, 'ben', 'Change wallet…');
    await check(page, 'ben’s wallet');
    await fromMenu(page, 'ben', 'Set password…');
    await check(page, 'Set a password for ben');
    await fromMenu(page, 'ben', 'Disable…');
    await check(page, 'Disable ben?');

    await open(page, '/admin/requests');
    await page.getByRole('button', { name: 'Approve' }).click();
    await check(page, 'Approve cleo’s request?');
    await open(page, '/admin/gateways');
    await page.getByRole('button', { name: 'New gateway' }).click();
    await check(page, 'New gateway');
    await open(page, '/admin/audit');
    await page.getByRole('button', { name: 'Details: ' }).first().click();
    expect(await violations(page.getByRole('dialog'))).toEqual([]);
  });
}

async function fromMenu(page: Page, subject: string, item: string) {
  await page.getByRole('button', { name: `Actions for ${subject}` }).click();
  expect(await violations(page.getByRole('menu')), `the menu of ${subject}`).toEqual([]);
  await page.getByRole('menuitem', { name: item, exact: true }).click();
}

/** Checks a dialog and closes it. */
async function check(page: Page, title: string) {
  const dialog = page.getByRole('dialog', { name: title });
  expect(await violations(dialog), title).toEqual([]);
  const { unreachable } = await enlargedScrolling(page);
  expect(unreachable, `scrolling elements in “${title}”`).toEqual([]);
  await dialog.getByRole('button', { name: 'Close' }).click();
  await hidden(dialog);
}
