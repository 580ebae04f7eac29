import { limits, requestLimits } from '../../api/serverLimits';
import type { TokenFieldName } from '../../api/tokenChanges';
import { asTyped } from '../../format/money';
import { plural } from './plural';

interface FieldTexts {
  label: string;
  hint?: string;
  changed: string;
}

const count = (keys: number) => plural(keys, 'key', 'keys');

export const keys = {
  title: 'Keys',
  description: 'Each key has its own quota and works until it expires or is disabled.',
  create: 'Create key',
  table: 'Your keys',
  columns: {
    name: 'Name',
    status: 'Status',
    quota: 'Quota',
    expires: 'Expires',
    group: 'Group',
    lastUsed: 'Last used',
  },
  notYet: 'never',
  ownGroup: 'Your group',
  autoGroup: 'Automatic',
  search: {
    label: 'Search by name or key',
    tooShort: `Enter at least ${limits.search_characters} characters.`,
    tooManyWildcards: `Use at most ${limits.search_wildcards} wildcards (%), not side by side.`,
    retryingIn: (seconds: string) => `Searching too fast. Retrying in ${seconds} s.`,
  },
  status: { label: 'Status', all: 'All statuses' },
  group: { label: 'Group', all: 'All groups' },
  sort: {
    label: 'Order',
    by: {
      newest: 'Newest first',
      oldest: 'Oldest first',
      name: 'Name A–Z',
      name_desc: 'Name Z–A',
      least_left: 'Least quota left',
      most_left: 'Most quota left',
      most_used: 'Most spent',
      last_used: 'Last used',
      longest_unused: 'Longest unused',
      expires_first: 'Expires first',
      expires_last: 'Expires last',
    },
  },
  empty: {
    title: 'No keys yet',
    hint: 'A program needs a key to call the API. Each key has its own quota.',
  },
  noMatches: {
    title: 'No matching keys',
    hint: 'Try another name, or other filters.',
    clear: 'Show all keys',
  },
  select: { one: (name: string) => `Select ${name}`, page: 'Select all keys on this page' },
  selection: {
    label: 'Selected keys',
    enable: 'Enable',
    disable: 'Disable',
    addQuota: 'Add quota',
    change: 'Change',
    export: 'Export CSV',
    replace: 'Replace',
    replaceAtMost: (most: number) => `At most ${most} keys can be replaced at once.`,
    delete: 'Delete',
  },
  /** Changing many keys in the same way. */
  many: {
    titles: {
      enable: (keys: number) => `Enable ${count(keys)}?`,
      disable: (keys: number) => `Disable ${count(keys)}?`,
      add_quota: (keys: number) => `Add quota to ${count(keys)}`,
      change: (keys: number) => `Change ${count(keys)}`,
    },
    confirm: {
      enable: (keys: number) => `Enable ${count(keys)}`,
      disable: (keys: number) => `Disable ${count(keys)}`,
      add_quota: (keys: number) => `Add to ${count(keys)}`,
      change: (keys: number) => `Change ${count(keys)}`,
    },
    everyMatch: 'All keys that match the filters of the list, also those on other pages.',
    disableWarning: 'Programs that use them are refused until the keys are enabled again.',
    what: { limits: 'Limits', expiry: 'Expiry', group: 'Group' },
    limitsHint: 'In US dollars, for each key. What stays empty isn’t changed.',
    unlimited: 'Keys without a quota in total stay unlimited.',
    ownersGroup: 'The owner’s group',
    key: (id: string) => `key ${id}`,
    progress: (changed: string, all: number) => `${changed} of ${count(all)} changed so far.`,
    waiting: (seconds: string) =>
      `The server limits how many keys are changed in a minute. Going on in ${seconds} s.`,
    stop: 'Stop',
    goOn: 'Go on',
    stopped: (changed: string, all: number) => `Stopped. ${changed} of ${count(all)} were changed.`,
    done: (keys: number) => `Changed ${count(keys)}.`,
    refused: (owners: number) =>
      `Nothing was changed for ${owners === 1 ? 'this owner' : `these ${plural(owners, 'owner', 'owners')}`}:`,
  },
  addQuota: {
    title: (keys: number) => `Add quota to ${count(keys)}`,
    unlimited: (keys: number) =>
      `${count(keys)} without a quota in total ${keys === 1 ? 'stays' : 'stay'} as before.`,
    amount: 'Dollars for each key',
    nothing: 'Enter more than 0.',
    confirm: 'Add quota',
    done: (usd: string, keys: number) =>
      `Added ${usd} to ${keys === 1 ? '1 key' : `each of ${count(keys)}`}.`,
  },
  disable: {
    title: (keys: number) => `Disable ${count(keys)}?`,
    warning: 'Programs that use them are refused until you enable the keys again.',
    confirm: (keys: number) => `Disable ${count(keys)}`,
    done: (keys: number) => `Disabled ${count(keys)}.`,
  },
  switch: (name: string) => `Allow requests with ${name}`,
  switched: {
    disabled: (name: string) => `Disabled “${name}”. Programs that use it are refused.`,
    enabled: (keys: number) => `Enabled ${count(keys)}.`,
    undone: (keys: number) => `Enabled ${count(keys)} again.`,
    someRefused: (refused: string, all: number, sentence: string) =>
      `${refused} of ${count(all)} weren’t changed. ${sentence}`,
  },
  menu: {
    label: (name: string) => `Actions for ${name}`,
    open: 'Open',
    edit: 'Edit',
    duplicate: 'Duplicate',
    audited: 'Recorded in your activity',
    copyKey: 'Copy key',
    revealKey: 'Reveal key',
    replaceKey: 'Replace key',
    enable: 'Enable',
    disable: 'Disable',
    delete: 'Delete',
  },
  copied: (name: string) => `Copied the key “${name}”. This is recorded in your activity.`,
  revealed: {
    title: (name: string) => `Key “${name}”`,
    hint: 'Anyone who has this key can spend its quota. Revealing it is recorded in your activity.',
  },
  created: {
    title: 'Your new key',
    hint: 'Copy it into your program. You can reveal it again later; each time is recorded in your activity.',
  },
  replace: {
    title: (name: string) => `Replace the key “${name}”`,
    explanation:
      'You get a new key with the same quota, limits and history. You choose how long the old one still works.',
    question: 'How long does the old key work?',
    choices: {
      leaked: {
        label: 'The key leaked: end the old one at once',
        hint: 'Programs that still use it are refused.',
      },
      hour: { label: 'An hour from now', hint: 'Even if the new key isn’t used by then.' },
      day: {
        label: 'A day after the new key is first used',
        hint: 'The day begins when a program first uses the new key.',
      },
      week: {
        label: 'A week after the new key is first used',
        hint: 'For many programs, or people who change them by hand.',
      },
      first_use: {
        label: 'Until the new key is first used',
        hint: 'At most 30 days. For one program, which you change at once.',
      },
    },
    confirm: { later: 'Replace key', leaked: 'Replace and end the old key' },
    hint: 'Copy it into your programs before the old key ends. You can reveal it again later; each time is recorded in your activity.',
    hintLeaked: 'The old key has ended. Copy the new one into your programs; you can also reveal it later.',
    othersWork: 'Keys that you replaced earlier still work. End them on the page of this key.',
    showRefused: 'See where the old key is still tried',
  },
  replaceMany: {
    title: (keys: number) => `Replace ${count(keys)}`,
    explanation:
      'Each key gets a new one with the same quota, limits and history. You choose how long the old ones still work.',
    confirm: { later: 'Replace keys', leaked: 'Replace and end the old keys' },
    newKeys: 'Your new keys',
    replaced: (keys: number) => `Replaced ${count(keys)}.`,
    once: 'The file with the new keys is offered only once, here. Later you can only reveal one key at a time; each time is recorded in your activity.',
    save: 'Save the file',
    saved: 'Saved',
    notSaved: 'The new keys are shown only once, and the file isn’t saved.',
    closeAnyway: 'Close without the file',
  },
  delete: {
    title: (keys: number) => (keys === 1 ? 'Delete this key?' : `Delete ${count(keys)}?`),
    more: (keys: string) => `and ${keys} more`,
    warning:
      'Programs that use these keys stop working immediately. You can restore the keys for a while, from “Deleted keys”.',
    warningOne:
      'Programs that use this key stop working immediately. You can restore it for a while, from “Deleted keys”.',
    confirm: (keys: number) => (keys === 1 ? 'Delete key' : `Delete ${count(keys)}`),
    done: (keys: number) => `Deleted ${count(keys)}.`,
  },
  /** `label` in the form and on the page, `changed` in the audit log. */
  fields: {
    name: { label: 'Name', hint: 'For example, “Nightly evaluation”', changed: 'name' },
    remain_quota: {
      label: 'Quota',
      hint: `In US dollars, for example 5 or ${asTyped('12.50')}`,
      changed: 'quota left',
    },
    unlimited_quota: {
      label: 'Unlimited',
      hint: 'Only your wallet limits what this key spends.',
      changed: 'unlimited quota',
    },
    period_limits: { label: 'Limits', changed: 'daily, weekly and monthly limits' },
    rate_limits: { label: 'Rate limits', changed: 'rate limits' },
    expired_time: { label: 'Expires', changed: 'expiry' },
    group: { label: 'Group', hint: 'Which channels serve its requests', changed: 'group' },
    cross_group_retry: {
      label: 'Retry in other groups',
      hint: 'If one group fails, the gateway tries the next.',
      changed: 'retry in other groups',
    },
    show_addresses: {
      label: 'Show addresses to users of the key',
      hint: 'Users of the key can read its requests. This shows them also the addresses that these came from.',
      changed: 'showing of addresses',
    },
    model_limits_enabled: {
      label: 'Limit models',
      hint: 'The key works only with the models you list. gpt-4o-* means all that begin with gpt-4o-.',
      changed: 'model restriction',
    },
    model_limits: {
      label: 'Models',
      hint: 'Pick a model, or type a name and press Enter',
      changed: 'models',
    },
    allow_ips: {
      label: 'Allowed IP addresses',
      hint: 'One IP or CIDR per line. Leave empty to allow any.',
      changed: 'allowed IP addresses',
    },
    note: {
      label: 'Note',
      hint: `Optional. For example, who uses the key. Up to ${requestLimits.CreateBody.note.maxLength} characters.`,
      changed: 'note',
    },
  } satisfies Record<TokenFieldName, FieldTexts>,
  form: {
    createTitle: 'Create a key',
    editTitle: (name: string) => `Edit “${name}”`,
    duplicateTitle: (name: string) => `Duplicate “${name}”`,
    copyOf: (name: string) => `${name} copy`,
    create: 'Create key',
    save: 'Save changes',
    saved: 'Key saved.',
    refused: 'The key wasn’t saved',
    conflict: {
      title: 'Someone changed this key',
      explanation:
        'It was changed in another place after you opened this form. Nothing of yours is saved yet. Which do you want?',
      table: 'What differs',
      field: 'Field',
      theirs: 'Theirs',
      mine: 'Yours',
      notMine: 'You didn’t change this. Theirs stays.',
      none: 'None',
      keepTheirs: 'Keep theirs',
      saveMine: 'Save mine',
    },
    spending: 'How much may it spend?',
    total: 'Dollars in total',
    advanced: 'Advanced',
    nameCount: (used: number, most: number) => `${used}/${most}`,
    noteCount: (used: number, most: number) => `${used}/${most}`,
    quotaLeft: 'Quota left',
    quotaUnits: (usd: string, units: string) => `${usd} = ${units} units`,
    quotaUsed: (usd: string) => `${usd} already used`,
    quotaMode: 'Change quota',
    quotaModes: { add: 'Add', take: 'Take', set: 'Set' },
    quotaAmount: 'Amount (USD)',
    quotaBefore: (before: string) => `${before} left now.`,
    quotaAfter: (before: string, after: string) =>
      `${before} left now, ${after} after saving. Anything spent in the meantime comes off as well.`,
    quotaSet: (before: string) =>
      `${before} left now. Replaces what is left, whatever is spent in the meantime.`,
    onlyPeriods: 'Without a total, only the limits per day, week and month apply.',
    nothingLeft: 'With nothing left, the key can’t be used.',
    moreThanWallet: (usd: string) =>
      `Your wallet holds ${usd}. The key stops when the wallet is empty, before its quota is used up.`,
    expiryChoices: {
      never: 'Never',
      day: 'In 1 day',
      week: 'In 7 days',
      month: 'In 30 days',
      quarter: 'In 90 days',
      at: 'On a date',
    },
    expiresAt: 'Date and time',
    expiryEnds: (time: string) => `Expires on ${time}.`,
    expiryPassed: 'This time has passed. The key won’t work.',
    ipsExample: '203.0.113.7\n2001:db8::/32',
    groupUnknown: 'The groups couldn’t be loaded. The group stays as it is.',
    ownGroup: (group: string) => `Your group (${group})`,
    ownGroupHint: 'Follows your account when its group changes',
    autoGroup: 'Automatic',
    autoGroupHint: 'The gateway picks the group',
    ratio: (ratio: string) => `price × ${ratio}`,
    /** In the form of somebody else's key. */
    ofOther: {
      createTitle: (owner: string) => `Create a key for ${owner}`,
      ownGroup: (group: string) => `The owner’s group (${group})`,
      ownGroupHint: 'Follows the owner’s account when its group changes',
      hints: { unlimited_quota: 'Only the owner’s wallet limits what this key spends.' },
      moreThanWallet: (usd: string) =>
        `The owner’s wallet holds ${usd}. The key stops when the wallet is empty, before its quota is used up.`,
      errors: {
        token_limit_reached: 'The owner has reached their limit of keys.',
        token_api_not_enabled: 'The owner doesn’t have API access.',
      },
    },
    errors: {
      noName: 'Enter a name.',
      longName: (most: number) => `Use up to ${most} characters.`,
      longNote: (most: number) => `Use up to ${most} characters.`,
      largeQuota: (most: string) => `Enter at most ${most}.`,
      noLimit: 'Enter at least one amount, or turn on “Unlimited”.',
      takesTooMuch: (left: string) => `The key has ${left} left. Enter at most that.`,
      noDateTime: 'Pick a date and time.',
      noModels: 'Add at least one model.',
      manyModels: (most: string) => `Add at most ${most} models.`,
      modelStar: (name: string) => `“${name}”: * can only be the last character, after at least one other.`,
      longModel: (most: number) => `Model names can have up to ${most} characters.`,
      manyIps: `Add at most ${limits.addresses} addresses and ranges.`,
      ip: (line: number, entry: string) => `Line ${line}: “${entry}” isn’t a valid IP address or CIDR range.`,
    },
  },
};
