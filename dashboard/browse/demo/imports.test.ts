import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { importDetails, importNotes, makeImportRun } from '../../src/test/makeImportRun';
import { en } from '../../src/texts/en';
import { zh } from '../../src/texts/zh';
import { violations } from '../harness/accessibility';
import { ROOT } from '../harness/accounts';
import { eventually } from '../harness/eventually';
import { cutOff, lasting, resize } from '../harness/layout';
import { open } from '../harness/pages';
import { horizontalOverflow } from '../harness/scrolling';
import { expect, test } from '../harness/test';

const PICTURES = join(import.meta.dirname, '../screenshots');
const LOOKS = [
  { colorScheme: 'light', locale: 'en-US', fonts: 'dejavu', texts: en },
  { colorScheme: 'dark', locale: 'zh-CN', fonts: 'noto', texts: zh },
] as const;

const row = { user_id: 1_234_567, token_id: 7_654_321 };
const { report } = makeImportRun();

/** Every finding, in a run that failed, and an import before it. */
function runs() {
  const codes = Object.keys(en.adminImports.findings);
  const amount = (code: string) => (/debt|capped/.test(code) ? { amount: 98_765_432_100 } : {});
  const findings = Object.fromEntries(
    codes.map((code) => {
      const rows = importDetails[code]?.map((detail) => ({ ...row, detail })) ?? [row];
      return [code, { meaning: code, count: 1_234_567, ...amount(code), rows }];
    }),
  );
  const source = 'mysql://database.internal.example.org:3306/new-api';
  return [
    makeImportRun({
      id: 2,
      complete: false,
      report: { findings: { ...report.findings, ...findings }, notes: importNotes, source },
    }),
    makeImportRun({ id: 1, name: 'a-name-of-fifty-characters-for-the-old-installation' }),
  ];
}

// The demo has no imports: they change accounts and keys.
for (const { texts, ...look } of LOOKS) {
  test(`reports of imports fit the screen: ${look.colorScheme}, ${look.locale}`, async ({ visit }) => {
    const page = await visit({ as: ROOT, ...look });
    await page.route('**/api/admin/imports', (route) =>
      route.fulfill({ json: { success: true, message: '', data: runs() } }),
    );
    await open(page, '/admin/imports');
    await page.getByRole('button', { name: texts.adminImports.show }).click();
    for (const summary of await page.locator('summary').all()) await summary.click();
    if (look.locale === 'zh-CN') expect(await englishSentences(page)).toEqual([]);
    for (const width of [320, 390, 860, 1280, 1920]) {
      await resize(page, { width, height: 800 });
      await eventually(() => horizontalOverflow(page), `${width} pixels`).toBe(0);
      expect.soft(await lasting(() => cutOff(page.locator('html'))), `${width} pixels`).toEqual([]);
      if (width !== 390 && width !== 1280) continue;
      expect.soft(await violations(page.locator('html')), `${width} pixels`).toEqual([]);
      const height = await page.evaluate(() => document.documentElement.scrollHeight);
      await resize(page, { width, height });
      await page.screenshot({
        path: join(PICTURES, `admin-imports-runs-${look.colorScheme}-${width}.png`),
        animations: 'disabled',
        fullPage: true,
      });
    }
  });
}

/** Texts of the page with three English words in a row, other than commands. */
async function englishSentences(page: Page): Promise<string[]> {
  const lines = (await page.locator('main').innerText()).split('\n');
  return lines.filter((line) => /(?:\b[a-z]{2,}[ ,;]+){3}/i.test(line.replace('keymeter user password', '')));
}
