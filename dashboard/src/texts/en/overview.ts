import { limits } from '../../api/serverLimits';
import { plural } from './plural';

export const overview = {
  title: 'Overview',
  description: 'What your keys spend, and which ones need attention.',
  wallet: {
    title: 'Wallet',
    spent: (usd: string) => `${usd} spent in total`,
    empty: {
      user: 'Your wallet is empty. Ask an administrator to top it up.',
      administrator: 'Your wallet is empty. Ask root to top it up.',
      root: 'Your wallet is empty.',
    },
    topUp: 'Top it up',
  },
  today: 'Spent today',
  todayIn: (zone: string) => `Spent today (${zone})`,
  week: `Spent in ${limits.overview_days} days`,
  requests: (count: number) => plural(count, 'request', 'requests'),
  tokens: (count: string) => `${count} tokens`,
  spend: {
    title: 'Spend by day',
    columns: {
      day: 'Day',
      usd: 'Spent',
      requests: 'Requests',
      tokens: 'Tokens',
      input: 'Input tokens',
      output: 'Output tokens',
    },
  },
  keys: {
    title: 'Keys',
    all: 'Show all keys',
  },
  attention: {
    title: 'Needs attention',
    none: 'Nothing needs attention',
    noneHint: 'No key is stopped, or about to expire or run out of quota.',
    reasons: {
      expires_soon: { word: 'Expires soon', sentence: (when: string) => `Stops working ${when}.` },
      nearly_spent: {
        word: 'Almost used up',
        sentence: (left: string, granted: string) => `Only ${left} of ${granted} left.`,
      },
      limit_reached: {
        word: 'Limit reached',
        sentence: {
          day: (limit: string, when: string) =>
            `Its daily limit of ${limit} is used up. Works again ${when}.`,
          week: (limit: string, when: string) =>
            `Its weekly limit of ${limit} is used up. Works again ${when}.`,
          month: (limit: string, when: string) =>
            `Its monthly limit of ${limit} is used up. Works again ${when}.`,
        },
        never: {
          day: (limit: string) => `Its daily limit of ${limit} refuses every request.`,
          week: (limit: string) => `Its weekly limit of ${limit} refuses every request.`,
          month: (limit: string) => `Its monthly limit of ${limit} refuses every request.`,
        },
        other: 'One of its limits is used up.',
      },
      exhausted: {
        word: 'Used up',
        sentence: (granted: string) => `Its quota of ${granted} is used up.`,
        neverHad: 'It has no quota.',
      },
      group_not_allowed: { word: 'Group not allowed', sentence: 'You may no longer use its group.' },
      expired: { word: 'Expired', sentence: (when: string) => `Stopped working ${when}.` },
      exceeds_wallet: {
        word: 'Exceeds wallet',
        sentence: (left: string) => `Has ${left} left, but your wallet has less.`,
      },
      other: { word: 'Check', sentence: 'This key needs attention.' },
    },
    emptyWallet: {
      name: 'Wallet',
      word: 'Empty',
      sentence: 'Your keys won’t work until your wallet is topped up.',
    },
    stoppedAccount: { name: 'Account', word: 'Stopped', sentence: 'Your keys don’t work at the moment.' },
    accountLimit: {
      name: 'Account',
      word: 'Limit reached',
      sentence: (when: string) => `Your keys won’t work until the limit of your account renews ${when}.`,
      never: 'Your keys won’t work until the limit of your account is raised.',
    },
    more: (count: number) => `${plural(count, 'more key needs', 'more keys need')} attention.`,
    show: { 3: 'Show expired keys', 4: 'Show used-up keys', all: 'Show all keys' },
  },
  firstRun: {
    title: 'Create your first key',
    hint: 'A program needs a key to call the API. The key’s quota caps what the program can spend.',
    action: 'Create a key',
  },
};
