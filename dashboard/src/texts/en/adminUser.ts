import { limits } from '../../api/serverLimits';
import { plural } from './plural';

export const adminUser = {
  title: 'User',
  back: 'Users',
  notFound: {
    title: 'User not found',
    hint: 'This user doesn’t exist. It may have been deleted. The audit log keeps what happened.',
    toUsers: 'Show all users',
    toAudit: 'Open the audit log',
  },
  changeWallet: 'Change wallet',
  facts: {
    title: 'About this user',
    role: 'Role',
    group: 'Group',
    access: 'API access',
    limit: 'Key limit',
    limits: 'Limits',
    created: 'Created',
    email: 'Email address',
    none: 'None',
    requests: 'Requests',
  },
  wallet: {
    title: 'Wallet',
    spent: (usd: string) => `${usd} spent in total`,
    history: 'Changes to the wallet',
    columns: {
      change: 'Change',
      before: 'Before',
      after: 'After',
      by: 'Done by',
      time: 'Time',
      note: 'Note',
    },
    empty: { title: 'No changes', hint: 'Amounts that administrators add or take appear here.' },
  },
  spend: {
    title: `Spent in ${limits.default_report_days} days`,
    all: 'All usage',
  },
  keys: {
    title: 'Keys',
    all: (count: number) => `All ${plural(count, 'key', 'keys')}`,
    empty: { title: 'No keys', hint: 'This user hasn’t created a key yet.' },
  },
  changes: {
    title: 'Changes to this user and their keys',
    all: 'Audit log',
    empty: { title: 'No changes', hint: 'What anyone does to this user and their keys appears here.' },
  },
  activity: {
    title: 'Done by this user',
    all: 'Audit log',
    empty: { title: 'No activity', hint: 'This user hasn’t done anything yet.' },
  },
};
