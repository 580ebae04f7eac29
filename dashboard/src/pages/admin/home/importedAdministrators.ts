import type { ImportRun } from '../../../api/adminImports';

const DAYS = 30;
const DAY_SECONDS = 86_400;

export interface ImportedAdministrator {
  username: string;
  role: number;
  /** The name of the other installation. */
  source: string;
  /** Unix seconds. */
  at: number;
}

/** Who became an administrator here by an import of the last 30 days, as far as the reports name them, and how many in all. */
export function importedAdministrators(runs: ImportRun[], now: number) {
  const recent = runs.filter(({ at }) => at > now - DAYS * DAY_SECONDS);
  const findings = recent.map(({ report }) => report.findings.administrator_imported);
  return {
    count: findings.reduce((sum, finding) => sum + (finding?.count ?? 0), 0),
    named: recent.flatMap(({ name, at, report }) =>
      (report.findings.administrator_imported?.rows ?? []).flatMap(({ detail }): ImportedAdministrator[] =>
        detail && 'username' in detail ? [{ ...detail, source: name, at }] : [],
      ),
    ),
  };
}
