import type { AuditLine } from '../../../api/adminAudit';

export interface WalletChange {
  line: AuditLine;
  /** Quota units. Absent if the entry does not have them. */
  before?: number;
  after?: number;
}

/** The wallet before and after each entry of the audit log. */
export function walletChanges(lines: AuditLine[]): WalletChange[] {
  return lines.map((line) => ({ line, before: unitsOf(line.details.from), after: unitsOf(line.details.to) }));
}

function unitsOf(text: string | undefined): number | undefined {
  return text !== undefined && /^-?\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** The difference with its sign, in quota units. Absent if the entry does not have the amounts. */
export function differenceOf({ before, after }: WalletChange): number | undefined {
  return before === undefined || after === undefined ? undefined : after - before;
}
