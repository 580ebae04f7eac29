import { daysIn } from '../../../api/dailyUsage';
import { isAdministrator, type User } from '../../../api/session';
import type { Report, ReportRow } from '../../../api/usageReports';

export interface LowWallet {
  user: User;
  /** Whole days until the wallet is empty at the pace of the report. 0 also if it is empty. */
  days: number;
  /** The mean spend of a day of the report, in quota units. */
  perDay: number;
}

interface Spend extends Pick<Report, 'from' | 'to'> {
  rows: Pick<ReportRow, 'user_id' | 'quota'>[];
}

/**
 * The users whose wallet is empty or lasts less than `lowDays` at the pace of the report, the most urgent first: empty ones
 * by what they spent, then the others by how long they last. Administrators who spent nothing are left out, because
 * they need no wallet.
 */
export function lowWallets(users: User[], { from, to, rows }: Spend, lowDays: number): LowWallet[] {
  const reportDays = daysIn({ start: from, end: to });
  const spent = new Map(rows.map(({ user_id, quota }) => [user_id, quota]));
  const spentBy = ({ id }: User) => spent.get(id) ?? 0;
  return users
    .filter((user) => user.token_api_enabled && (spentBy(user) > 0 || !isAdministrator(user)))
    .map((user) => ({
      user,
      days: daysLeft(user.quota, spentBy(user), reportDays),
      perDay: spentBy(user) / reportDays,
    }))
    .filter(({ days }) => days < lowDays)
    .sort(
      (a, b) => Number(isEmpty(b.user)) - Number(isEmpty(a.user)) || a.days - b.days || b.perDay - a.perDay,
    );
}

export function isEmpty({ quota }: Pick<User, 'quota'>): boolean {
  return quota <= 0;
}

function daysLeft(quota: number, spent: number, days: number): number {
  if (quota <= 0) return 0;
  return spent > 0 ? Math.floor((quota * days) / spent) : Number.POSITIVE_INFINITY;
}
