import { plural } from './plural';

const users = (count: number) => plural(count, 'user', 'users');

/** Texts about changing many users at once. */
export const adminBulk = {
  open: 'Change several users',
  title: 'Change several users',
  titleOf: (count: number) => `Change ${users(count)}`,
  select: { one: (username: string) => `Select ${username}`, page: 'Select all users on this page' },
  selected: 'Selected users',
  source: 'Whom',
  sources: { names: 'Names', csv: 'CSV file' },
  names: 'Usernames',
  namesHint: 'One a line, or separated by commas or spaces',
  noNames: 'Enter at least one username.',
  csv: 'Lines of the file',
  csvHint:
    'user,usd or user,usd,note: each line adds these dollars to the wallet of this user. Drop a file here.',
  chooseFile: 'Choose a file',
  noLines: 'Choose a file, or paste its lines.',
  notUtf8: 'This file isn’t in UTF-8. In a spreadsheet, save it as “CSV UTF-8”.',
  action: 'What to change',
  actions: { top_up: 'Top up', limits: 'Limits', group: 'Group', enable: 'Enable', disable: 'Disable' },
  amount: 'Dollars for each user',
  limitsHint: 'In US dollars, for all keys of a user together. What stays empty isn’t changed.',
  noGroup: 'Choose a group.',
  more: (count: number) => `and ${users(count)} more`,
  preview: 'Preview',
  back: 'Back',
  previews: {
    topUp: (count: number, usd: string) => `${users(count)} will get ${usd} in total.`,
    change: (count: string, all: number) => `${count} of ${users(all)} will be changed.`,
  },
  table: 'Before and after',
  columns: { user: 'User', before: 'Before', added: 'Added', after: 'After' },
  same: 'not changed',
  noLimits: 'no limits',
  apply: {
    top_up: (count: number) => `Top up ${users(count)}`,
    limits: (count: number) => `Limit ${users(count)}`,
    group: (count: number) => `Move ${users(count)}`,
    enable: (count: number) => `Enable ${users(count)}`,
    disable: (count: number) => `Disable ${users(count)}`,
  },
  toppedUp: (count: number, usd: string) => `Topped up ${users(count)}, with ${usd} in total.`,
  changed: (count: number) => `Changed ${users(count)}.`,
  undone: (count: number) => `Took back what ${users(count)} got.`,
  notUndone: (reasons: string) => `Nothing was taken back. ${reasons}`,
  refused: (count: number) =>
    `Nothing was changed, because of ${count === 1 ? 'this user' : `these ${users(count)}`}:`,
  leaveOut: (count: number) => `Leave ${count === 1 ? 'this one' : `these ${users(count)}`} out`,
  line: (line: string) => `line ${line}`,
  fault: (who: string, reason: string) => `${who}: ${reason}`,
  /** Of one user. `details` is the message of the API, which says more. */
  faults: {
    invalid_users: (details: string) => `${details}`,
    invalid_username: () => 'This isn’t a username.',
    invalid_usd: (details: string) => `${details}`,
    invalid_quota: () => 'The wallet can’t hold that much.',
    not_found: () => 'There is no such user.',
    role_too_low: () => 'Only root can change this user.',
    own_account: () => 'You can’t enable or disable yourself.',
    account_disabled_by_root: () => 'Root disabled this user. Only root can enable them.',
    insufficient_quota: () => 'Less is left in the wallet.',
    user_changed: (details: string) => `${details}`,
  },
};
