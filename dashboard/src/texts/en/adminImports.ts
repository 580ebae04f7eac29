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
  /** With forms for one and for more, for `agree`. */
  findings: {
    username_changed:
      'Username[|s] had characters that aren’t allowed here, and [was|were] changed. Tell [this person|these people].',
    username_taken:
      'Username[|s] belonged to another account already, and got the account’s ID as a suffix. Tell [this person|these people].',
    renamed_there:
      'Account[|s] [was|were] renamed there after an earlier import. Here [it keeps the name that it has|they keep the names that they have].',
    root_replaced: 'The unused root account became this account, with its name and password.',
    no_password:
      'Account[|s] [has|have] no password that works here. Set one with keymeter user password, or on the page of the user.',
    password_too_costly: `Password hash[|es] with a cost above ${limits.imported_bcrypt_cost} [was|were] not imported. The report of the command has [a new password|new passwords]; the root account of here keeps its own.`,
    second_factor:
      'Account[|s] had a second factor there. Here [it signs in with its password|they sign in with their passwords] alone.',
    email_dropped: 'Email address[|es] [was|were] not valid and [was|were] dropped.',
    role_unknown: 'Account[|s] had an unknown role and became [a user|users].',
    administrator_imported:
      'Account[|s] [is an administrator|are administrators] here, as [it is|they are] there. Look at [it|each of them].',
    administrator_lowered:
      'Account[|s] [is an administrator|are administrators] there and became [an ordinary user|ordinary users], because IDs are new (--keep-roles keeps roles).',
    known_password:
      'Password[|s] that everyone knows [was|were] not imported. The report of the command has [a new one|new ones]; the root account of here keeps its own.',
    user_status_unknown: 'Account[|s] had an unknown status and [was|were] disabled.',
    wallet_debt: 'Wallet[|s] [was|were] below zero and became 0.',
    wallet_capped: 'Wallet[|s] [was|were] above the maximum and became the maximum.',
    user_used_capped: 'Account[|s] had used an amount out of range, which was limited to it.',
    user_id_taken:
      'Account[|s] got a new ID, because [its own|theirs] is taken. [Its|Their] programs must send the new one.',
    access_token_skipped:
      'Access token[|s] [was|were] left out, because [it is|they are] too short or taken.',
    key_invalid: `Key[|s] [was|were] left out, because [it isn’t|they aren’t] ${limits.imported_key_min_characters} to ${limits.imported_key_max_characters} letters, digits and underscores.`,
    key_taken: 'Key[|s] [was|were] left out, because [it exists|they exist] here, or twice there.',
    switched_off:
      'Key[|s] [was|were] disabled: the other service refuses [it|them], and neither [its|their] expiry nor [its|their] quota is why.',
    revived: 'Key[|s] that the other service refuses without a reason [was|were] enabled (--revive).',
    expired_from_the_start:
      'Key[|s] with an expiry of 0 or below [is|are] expired, as [it is|they are] there.',
    expiry_beyond_calendar:
      'Key[|s] with an expiry beyond the year 9999 never expire[s|], as there. Such an expiry is often in milliseconds.',
    token_debt: 'Key[|s] had a remaining quota below zero, which became 0.',
    token_capped: 'Key[|s] had a remaining quota above the maximum, which became the maximum.',
    token_used_capped: 'Key[|s] had used an amount out of range, which was limited to it.',
    token_name_changed:
      'Name[|s] of keys [was|were] empty, too long or had hidden characters, and [was|were] changed.',
    models_dropped: 'List[|s] of models had entries that aren’t allowed here, which were dropped.',
    model_stars:
      'List[|s] of models [has|have] entries with * that match nothing there. They match nothing here either (\\*); you can change them to patterns.',
    ips_dropped: 'List[|s] of IP addresses had entries that aren’t addresses, which were dropped.',
    no_ip_left:
      'Key[|s] [was|were] disabled, because no entry of [its list|their lists] of IP addresses is valid.',
    group_not_open:
      'Key[|s] [has|have] a group that isn’t open to [its owner|their owners]. Open it, or [it is|they are] refused.',
    token_id_taken: 'Key[|s] got a new ID, because [its own|theirs] is taken.',
    id_out_of_range:
      'Account[|s] or key[|s] got a new ID, because [its own|theirs] is not between 1 and 2^39 − 1.',
    usage_below_zero: 'Day[|s] with more refunds than spend [counts|count] as 0.',
    usage_model_cut: 'Name[|s] of models in the history [is|are] too long and [was|were] cut.',
    user_deleted: 'Account[|s] [was|were] left out, because [it is|they are] deleted there.',
    user_gone: 'Account[|s] [was|were] deleted here after an earlier import. Nothing was added to [it|them].',
    token_deleted: 'Key[|s] [was|were] left out, because [it is|they are] deleted there.',
    token_orphaned: 'Key[|s] [was|were] left out, because [its account|their accounts] [was|were] not moved.',
    usage_orphaned:
      'Day[|s] of history [belongs|belong] to no key that was moved. [It counts|They count] for the account only.',
    linked_identity: 'Account[|s] [was|were] linked to other identity providers. The links were left out.',
    affiliate_quota: 'Account[|s] had affiliate quota, which was left out.',
    restriction_lost:
      'Column[|s] [looks like a restriction and was|look like restrictions and were] not read, so what [it forbids|they forbid] there is open here (--accept).',
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
    'two-factor secrets': 'Two-factor secret[|s]',
    passkeys: 'Passkey[|s]',
    'links to other identity providers': 'Link[|s] to other identity providers',
    subscriptions: 'Subscription[|s]',
    'redemption codes': 'Redemption code[|s]',
    channels: 'Channel[|s]',
  },
  notMovedValues: (column: string) => `Value[|s] of ${column}`,
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
