import { limits } from '../../api/serverLimits';
import { formatInteger } from '../../format/locale';
import { plural } from './plural';

const days = limits.default_report_days;

export const adminHome = {
  title: 'Admin overview',
  description: 'What everyone spends, and what needs your attention.',
  today: (zone: string) => `Spent today (${zone})`,
  week: 'Spent in 7 days',
  month: `Spent in ${days} days`,
  spend: { title: 'Spend by day', all: 'All usage' },
  users: {
    title: `Top users in ${days} days`,
    all: 'All usage',
    empty: `Nobody has spent anything in ${days} days.`,
  },
  keys: { title: `Top keys in ${days} days`, all: 'All usage', empty: `No key was used in ${days} days.` },
  attention: {
    noneHint:
      'No key is stopped by a quota, a wallet or a limit. In the last hour, none was refused, and every request was charged what it cost.',
    held: {
      word: 'Hold charged',
      noModel: 'Without a model',
      sentence: (count: number, reason: string, when: string) =>
        `${plural(count, 'request', 'requests')} charged ${count === 1 ? 'its hold' : 'their holds'} in the last hour, the last one ${when}: ${reason}`,
      reasons: {
        model_not_priced: 'the model, or a unit that it used, has no price.',
        invalid_count: 'the gateway sent counts that cannot be.',
        invalid_usage: 'the usage in the answer of the provider could not be read.',
        nothing_used: 'nothing was counted.',
        no_input: 'no input was counted.',
        expired: 'the gateway did not settle the reservation in time.',
      },
      otherReason: (code: string) => `another reason (${code}).`,
    },
    stopped: (keys: number) => plural(keys, 'key does not work', 'keys do not work'),
    newest: `Of the newest ${formatInteger(limits.listed_tokens)} keys.`,
  },
  share: (percent: string) => `${percent}% of the spend`,
  wallets: {
    title: 'Low wallets',
    all: 'All wallets',
    empty: (days: number) => `Everyone who spends has enough for the next ${plural(days, 'day', 'days')}.`,
    emptyBadge: 'Empty',
    stopped: 'Keys don’t work until you add money.',
    spends: (usd: string) => `Spends about ${usd} a day.`,
    lasts: (days: number) =>
      days < 1 ? 'lasts less than a day at this pace' : `lasts ${plural(days, 'day', 'days')} at this pace`,
  },
  requests: {
    title: 'Pending requests',
    all: 'All requests',
    empty: 'Nobody is waiting for API access.',
    more: (count: number) => `${plural(count, 'more request is', 'more requests are')} pending.`,
    answer: (username: string) => `Approve ${username}’s request`,
    refuse: (username: string) => `Refuse ${username}’s request`,
  },
  locked: {
    title: `Too many wrong passwords in ${limits.lockout_seconds / 3600} hours`,
    network: 'Sign-ins from single networks were refused. The owner can sign in from elsewhere.',
    newNetworks:
      'Sign-ins were refused from all networks but those the owner used before. The operator can end it on the command line.',
    badges: { network: 'Network refused', newNetworks: 'Locked' },
    more: (count: number) => plural(count, 'more account', 'more accounts'),
  },
  imported: {
    title: 'Administrators imported in 30 days',
    all: 'The reports',
    from: (name: string) => `Imported from ${name}. Keep only who should manage others here.`,
    more: (count: number) => plural(count, 'more administrator', 'more administrators'),
  },
  lostAnswers: {
    title: 'Answers that the database has lost in 30 days',
    all: 'The audit log',
    lost: (lost: string, lookedUp: string) =>
      `${lost} of the last ${lookedUp} answers of a server are gone: a failover without synchronous standbys, or a restore.`,
  },
  clock: {
    title: 'Usage counted on a wrong day in 30 days',
    all: 'The audit log',
    moved: (from: string, to: string) =>
      `The database’s clock was ahead: what was counted on ${from} counts on ${to} now.`,
  },
  gateways: {
    title: 'Gateways',
    all: 'All gateways',
    empty: 'No gateway yet. A gateway checks keys and charges them.',
    seen: 'Last seen',
    never: 'Never used',
    more: (count: number) => plural(count, 'more gateway', 'more gateways'),
  },
  health: {
    title: 'Server',
    ready: 'Ready',
    notReady: 'Not ready',
    readyHint: 'The database works.',
    version: 'Version',
  },
};
