import type { User } from '../../../api/session';
import type { ReportRow } from '../../../api/usageReports';

/** The days of the report that the pace is taken from. */
const REPORT_DAYS = 30;
/** A wallet is low if it does not last this long. */
const LOW_DAYS = 7;

const ADMINISTRATOR = 10;

export interface LowWallet {
  user: User;
  /** Whole days until the wallet is empty at the pace of the report. 0 also if it is empty. */
  days: number;
}

type Spend = Pick<ReportRow, 'user_id' | 'quota'>;

/**
 * The users whose wallet is empty or lasts less than a week at the pace of the last 30 days, the most urgent first: empty
 * ones by what they spent, then the others by how long they last. Administrators who spent nothing are left out, because
 * they need no wallet.
 */
export function lowWallets(users: User[], spend: Spend[]): LowWallet[] {
  const spent = new Map(spend.map(({ user_id, quota }) => [user_id, quota]));
  const spentBy = ({ id }: User) => spent.get(id) ?? 0;
  return users
    .filter((user) => user.token_api_enabled && (spentBy(user) > 0 || user.role < ADMINISTRATOR))
    .map((user) => ({ user, days: daysLeft(user.quota, spentBy(user)), spent: spentBy(user) }))
    .filter(({ days }) => days < LOW_DAYS)
    .sort(
      (a, b) => Number(isEmpty(b.user)) - Number(isEmpty(a.user)) || a.days - b.days || b.spent - a.spent,
    );
}

export function isEmpty({ quota }: Pick<User, 'quota'>): boolean {
  return quota <= 0;
}

function daysLeft(quota: number, spent: number): number {
  if (quota <= 0) return 0;
  return spent > 0 ? Math.floor((quota * REPORT_DAYS) / spent) : Number.POSITIVE_INFINITY;
}
