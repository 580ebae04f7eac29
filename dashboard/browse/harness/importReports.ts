import type { Page } from '@playwright/test';
import { importDetails, importNotes, makeImportRun } from '../../src/test/makeImportRun';
import { en } from '../../src/texts/en';
import { ROOT } from './accounts';
import type { Look } from './looks';
import { open } from './pages';
import type { Visit } from './test';

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

/** Opens the page of imports with the whole report. The demo has no imports: they change accounts and keys. */
export async function visitImports(visit: Visit, { texts, ...look }: Look): Promise<Page> {
  const page = await visit({ as: ROOT, ...look });
  await page.route('**/api/admin/imports', (route) =>
    route.fulfill({ json: { success: true, message: '', data: runs() } }),
  );
  await open(page, '/admin/imports');
  await page.getByRole('button', { name: texts.adminImports.show }).click();
  for (const summary of await page.locator('summary').all()) await summary.click();
  return page;
}
