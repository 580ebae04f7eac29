import { plural } from './plural';

export const adminHome = {
  title: 'Admin overview',
  description: 'What everyone spends, and what needs your attention.',
  today: (zone: string) => `Spent today (${zone})`,
  week: 'Spent in 7 days',
  month: 'Spent in 30 days',
  spend: { title: 'Spend by day', all: 'All usage' },
  users: { title: 'Top users in 30 days', all: 'All usage', empty: 'Nobody has spent anything in 30 days.' },
  keys: { title: 'Top keys in 30 days', all: 'All usage', empty: 'No key was used in 30 days.' },
  share: (percent: string) => `${percent}% of the spend`,
  wallets: {
    title: 'Low wallets',
    all: 'All wallets',
    empty: 'Everyone who spends has enough for the next 7 days.',
    badges: { empty: 'Empty', low: 'Low' },
    stopped: 'Keys don’t work until you add money.',
    lasts: (days: number) =>
      days < 1
        ? 'Lasts less than a day at this pace.'
        : `Lasts about ${plural(days, 'day', 'days')} at this pace.`,
  },
  requests: {
    title: 'Pending requests',
    all: 'All requests',
    empty: 'Nobody is waiting for API access.',
    more: (count: number) => `${plural(count, 'more request is', 'more requests are')} pending.`,
    answer: (username: string) => `Approve ${username}’s request`,
    refuse: (username: string) => `Refuse ${username}’s request`,
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
    readyHint: 'The database works and the clocks agree.',
    version: 'Version',
  },
};
