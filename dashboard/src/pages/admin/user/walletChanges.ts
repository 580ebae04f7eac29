import type { AuditLine } from '../../../api/adminAudit';

export interface WalletChange {
  line: AuditLine;
  /** Quota units. Absent if the entry does not have them. */
  before?: number;
  after?: number;
  note?: string;
}

/** The wallet before and after each entry of the audit log. */
export function walletChanges(lines: AuditLine[]): WalletChange[] {
  return lines.map((line) => {
    const { from, to, note } = line.details;
    return { line, before: unitsOf(from), after: unitsOf(to), note };
  });
}

function unitsOf(text: string | undefined): number | undefined {
  return text !== undefined && /^-?\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** The difference with its sign, in quota units. Absent if the entry does not have the amounts. */
export function differenceOf({ before, after }: WalletChange): number | undefined {
  return before === undefined || after === undefined ? undefined : after - before;
}
