import { limits } from '../../api/serverLimits';
import { formatInteger } from '../../format/locale';
import { plural } from './plural';

export const adminImports = {
  title: 'Imports',
  link: 'Imports from other services',
  description: 'What was moved here from other services, newest first.',
  empty: {
    title: 'No imports yet',
    hint: 'Accounts, keys, balances and history can be moved here from new-api or one-api. Every key in use keeps working.',
    guide: 'docs/moving-in.md has all the steps.',
  },
  command: { title: 'Rehearse it on the server; this writes nothing', copy: 'Copy command' },
  complete: 'Complete',
  failed: 'Failed midway',
  failedHint:
    'This run failed midway. Run the same command again: it finds what is here already and adds the rest.',
  show: 'Show report',
  hide: 'Hide report',
  toggleLabel: (action: string, name: string, time: string) => `${action}: ${name}, ${time}`,
  summary: {
    accounts: (count: number) => plural(count, 'account', 'accounts'),
    keys: (count: number) => plural(count, 'key', 'keys'),
    accessTokens: (count: number) => plural(count, 'access token', 'access tokens'),
  },
  facts: { service: 'Service', source: 'Source database', ended: 'Ended', summary: 'Imported' },
  counts: {
    title: 'Rows',
    found: 'Found',
    imported: 'Imported',
    present: 'Here before',
    leftOut: 'Left out',
    rows: { accounts: 'Accounts', keys: 'Keys', access_tokens: 'Access tokens' },
  },
  usage: (requests: number, accounts: number, usd: string) =>
    `History: ${plural(requests, 'request', 'requests')} of ${plural(accounts, 'account', 'accounts')}, ${usd} in all.`,
  usagePresent: (accounts: number) =>
    `The history of ${plural(accounts, 'account', 'accounts')} was here before.`,
  sums: {
    title: 'Sums in USD',
    there: 'There',
    here: 'Here',
    rows: {
      wallets: 'Wallets',
      wallets_used: 'Wallets, used',
      keys_remaining: 'Keys, remaining',
      keys_used: 'Keys, used',
    },
    ofThisRun: 'Of the accounts and keys that this run imported.',
    differ:
      'Sums differ by debts, which became 0, and by what was above the maximum. The list below names them.',
  },
  changed: {
    title: 'Changed or left out',
    ids: 'Accounts and keys have their IDs of the other service.',
    none: 'Nothing was changed or left out.',
    rows: (shown: number, count: number) =>
      shown < count ? `Show the first ${formatInteger(shown)} of ${formatInteger(count)}` : 'Show which',
    row: (subject: string) => `${subject}: `,
    inAll: 'in all',
  },
  accountNumber: (account: number) => `Account ${account}`,
  keyNumber: (key: number, account: number) => `Key ${key} of account ${account}`,
  findings: {
    username_changed:
      'Usernames had characters that aren’t allowed here, and were changed. Tell these people.',
    username_taken:
      'Usernames belonged to another account already, and got the account’s ID as a suffix. Tell these people.',
    renamed_there:
      'Accounts were renamed there after an earlier import. Here they keep the name that they have.',
    root_replaced: 'The unused root account became this account, with its name and password.',
    no_password:
      'Accounts have no password that works here. Set one with keymeter user password, or on the page of the user.',
    password_too_costly: `Password hashes with a cost above ${limits.imported_bcrypt_cost} were not imported. The report of the command has new passwords; the root account of here keeps its own.`,
    second_factor: 'Accounts had a second factor there. Here they sign in with their password alone.',
    email_dropped: 'Email addresses were not valid and were dropped.',
    role_unknown: 'Accounts had an unknown role and became users.',
    administrator_imported: 'Accounts are administrators here, as they are there. Look at each of them.',
    administrator_lowered:
      'Accounts are administrators there and became ordinary users, because IDs are new (--keep-roles keeps roles).',
    known_password:
      'Passwords that everyone knows were not imported. The report of the command has new ones; the root account of here keeps its own.',
    user_status_unknown: 'Accounts had an unknown status and were disabled.',
    wallet_debt: 'Wallets were below zero and became 0.',
    wallet_capped: 'Wallets were above the maximum and became the maximum.',
    user_used_capped: 'What accounts had used was out of range and was limited to it.',
    user_id_taken: 'Accounts got a new ID, because theirs is taken. Their programs must send the new one.',
    access_token_skipped: 'Access tokens were left out, because they are too short or taken.',
    key_invalid: `Keys were left out, because they aren’t ${limits.imported_key_min_characters} to ${limits.imported_key_max_characters} letters, digits and underscores.`,
    key_taken: 'Keys were left out, because they exist here, or twice there.',
    switched_off:
      'Keys were disabled: the other service refuses them, and neither their expiry nor their quota is why.',
    revived: 'Keys that the other service refuses without a reason were enabled (--revive).',
    expired_from_the_start: 'Keys with an expiry of 0 or below are expired, as they are there.',
    token_debt: 'The remaining quota of keys was below zero and became 0.',
    token_capped: 'The remaining quota of keys was above the maximum and became the maximum.',
    token_used_capped: 'What keys had used was out of range and was limited to it.',
    token_name_changed: 'Names of keys were empty, too long or had hidden characters, and were changed.',
    models_dropped: 'Lists of models had entries that aren’t allowed here, which were dropped.',
    model_stars:
      'Lists of models have entries with * that match nothing there. They match nothing here either (\\*); you can change them to patterns.',
    ips_dropped: 'Lists of IP addresses had entries that aren’t addresses, which were dropped.',
    no_ip_left: 'Keys were disabled, because no entry of their list of IP addresses is valid.',
    group_not_open: 'Keys have a group that isn’t open to their owner. Open it, or they are refused.',
    token_id_taken: 'Keys got a new ID, because theirs is taken.',
    id_out_of_range: 'Accounts and keys got a new ID, because theirs is not between 1 and 2^39 − 1.',
    usage_below_zero: 'Days with more refunds than spend count as 0.',
    usage_model_cut: 'Names of models in the history are too long and were cut.',
    user_deleted: 'Accounts were left out, because they are deleted there.',
    user_gone: 'Accounts were deleted here after an earlier import. Nothing was added to them.',
    token_deleted: 'Keys were left out, because they are deleted there.',
    token_orphaned: 'Keys were left out, because their account was not moved.',
    usage_orphaned: 'Days of history belong to no key that was moved. They count for the account only.',
    linked_identity: 'Accounts were linked to other identity providers. The links were left out.',
    affiliate_quota: 'Accounts had affiliate quota, which was left out.',
    restriction_lost:
      'Columns look like restrictions and were not read, so what they forbid there is open here (--accept).',
  },
  details: {
    became: (old: string, changed: string) => `“${old}” became “${changed}”`,
    account: (username: string, role: string) => `${username}, role ${role}`,
    role: (role: string) => `role ${role}`,
    status: (status: string) => `status ${status}`,
    expiry: (seconds: string) => `expiry ${seconds}`,
    characters: (count: number) => plural(count, 'character', 'characters'),
    dropped: (dropped: string, all: string) => `${dropped} of ${all}`,
    rows: (column: string, rows: number) => `${column}, ${plural(rows, 'row', 'rows')}`,
  },
  notMoved: 'Not moved',
  notMovedKinds: {
    'two-factor secrets': 'Two-factor secrets',
    passkeys: 'Passkeys',
    'links to other identity providers': 'Links to other identity providers',
    subscriptions: 'Subscriptions',
    'redemption codes': 'Redemption codes',
    channels: 'Channels',
  },
  notMovedValues: (column: string) => `Values of ${column}`,
  notesTitle: 'Notes',
  notes: {
    noHistory:
      'There is no table “logs” that the account may read, so no history was imported. --logs names another database that has it.',
    logsEmpty:
      'The table “logs” has no row although quota was used, so no history was imported. If LOG_SQL_DSN of the other service names another database, name it with --logs.',
    stillGrowing: 'The other service still worked.',
    unitsDiffer: (there: string, here: string) =>
      `1 USD is ${there} quota units there and ${here} here. Quota units are moved as they are.`,
  },
};
