import type { ImportReport, ImportRow } from '../../../api/adminImports';
import { agree } from '../../../format/agree';
import { formatList } from '../../../format/list';
import { sentence } from '../../../format/sentence';
import { texts } from '../../../texts';
import { textOf } from '../../../texts/textOf';
import { detailText } from './translate';

const words = texts.adminImports;

/** What was changed or left out, for one reason. */
export interface Finding {
  code: string;
  text: string;
  count: number;
  /** Quota units in all. */
  amount?: number;
  rows: FindingRow[];
}

export interface FindingRow {
  /** The account or key, by its ID in the other service. Empty if it is about neither. */
  subject: string;
  detail: string;
  /** Quota units, before the detail. */
  units?: number;
}

/** The findings in the order of the texts: accounts, keys, usage, what was left out. Unknown ones are last. */
export function findingsOf(report: ImportReport): Finding[] {
  const known = Object.keys(words.findings);
  const place = (code: string) => (known.includes(code) ? known.indexOf(code) : known.length);
  return Object.entries(report.findings)
    .sort(([one], [other]) => place(one) - place(other))
    .map(([code, { meaning, count, amount, rows }]) => ({
      code,
      text: agree(count, textOf(words.findings, code) ?? sentence(meaning)),
      count,
      amount,
      rows: rows.map(findingRow).filter(isTelling),
    }));
}

function findingRow({ user_id, token_id, detail }: ImportRow): FindingRow {
  const subject = subjectOf(user_id, token_id);
  if (detail === undefined) return { subject, detail: '' };
  const text = detailText(detail);
  return 'quota' in detail ? { subject, detail: text, units: detail.quota } : { subject, detail: text };
}

function subjectOf(account: number | undefined, key: number | undefined): string {
  if (account === undefined) return '';
  return key === undefined ? words.accountNumber(account) : words.keyNumber(key, account);
}

function isTelling({ subject, detail, units }: FindingRow): boolean {
  return subject !== '' || detail !== '' || units !== undefined;
}

/** What was not moved, with its number of rows. Kinds without rows are left out. */
export function notMovedOf(report: ImportReport): { kind: string; name: string; count: number }[] {
  return Object.entries(report.not_moved)
    .filter(([, count]) => count > 0)
    .map(([kind, count]) => ({
      kind,
      name: agree(count, textOf(words.notMovedKinds, kind) ?? valuesOf(kind) ?? sentence(kind).slice(0, -1)),
      count,
    }));
}

/** The name of values that are not moved, such as "values of `users.remark`". */
function valuesOf(kind: string): string | undefined {
  const column = /^values of `(.+)`$/.exec(kind)?.[1];
  return column === undefined ? undefined : words.notMovedValues(column);
}

/** What a run imported, in one line: "7 accounts, 14 keys, 2 access tokens". */
export function summaryOf({ accounts, keys, access_tokens }: ImportReport): string {
  const { accounts: ofAccounts, keys: ofKeys, accessTokens } = words.summary;
  return formatList([
    ofAccounts(accounts.imported),
    ofKeys(keys.imported),
    accessTokens(access_tokens.imported),
  ]);
}

const SUMS = ['wallets', 'wallets_used', 'keys_remaining', 'keys_used'] as const;

export interface Sum {
  name: (typeof SUMS)[number];
  there: number;
  here: number;
}

/** The sums in the other database and here, in quota units. */
export function sumsOf({ sums }: ImportReport): Sum[] {
  return SUMS.map((name) => ({ name, there: sums[name].source, here: sums[name].imported }));
}
