import type { Page } from '@playwright/test';
import { checkPage } from '../harness/checkPage';
import { visitImports } from '../harness/importReports';
import { THREE_SCREENS } from '../harness/layout';
import { DARK, LIGHT, lookName } from '../harness/looks';
import { expect, test } from '../harness/test';

for (const look of [LIGHT, DARK]) {
  test(`reports of imports are accessible and fit three screens: ${lookName(look)}`, async ({ visit }) => {
    const page = await visitImports(visit, look);
    if (look === DARK) expect(await englishSentences(page)).toEqual([]);
    await checkPage(page, THREE_SCREENS);
  });
}

/** Texts of the page with three English words in a row, other than commands. */
async function englishSentences(page: Page): Promise<string[]> {
  const lines = (await page.locator('main').innerText()).split('\n');
  return lines.filter((line) => /(?:\b[a-z]{2,}[ ,;]+){3}/i.test(line.replace('keymeter user password', '')));
}
