const plural = (count: string, one: string, many: string) => `${count} ${count === '1' ? one : many}`;

export const overview = {
  title: 'Overview',
  description: 'What your keys spend, and which of them need a look.',
  wallet: {
    title: 'Wallet',
    spent: (usd: string) => `${usd} spent so far`,
    empty: 'Empty: no key can spend before it is topped up.',
  },
  today: 'Spent today',
  week: 'Spent in 7 days',
  requests: (count: string) => plural(count, 'request', 'requests'),
  tokens: (count: string) => `${count} tokens`,
  spend: {
    title: 'Spend by day',
    view: 'Show as',
    chart: 'Chart',
    table: 'Table',
    columns: {
      day: 'Day',
      usd: 'Spent',
      requests: 'Requests',
      tokens: 'Tokens',
      input: 'Tokens in',
      output: 'Tokens out',
    },
  },
  keys: {
    title: 'Keys',
    all: 'Show all keys',
  },
  attention: {
    title: 'Needs attention',
    none: 'All is well',
    noneHint: 'No key expires soon, and none runs out of quota.',
    reasons: {
      expires_soon: { word: 'Expires soon', sentence: (when: string) => `Stops working ${when}.` },
      nearly_spent: {
        word: 'Nearly used up',
        sentence: (left: string, granted: string) => `Only ${left} of ${granted} is left.`,
      },
      exhausted: { word: 'Used up', sentence: (granted: string) => `Its quota of ${granted} is used up.` },
      expired: { word: 'Expired', sentence: (when: string) => `Stopped working ${when}.` },
      other: { word: 'Have a look', sentence: 'Something about this key needs a look.' },
    },
    more: (count: string) => `${count} more keys need attention. Show all keys`,
  },
  firstRun: {
    title: 'Create your first key',
    hint: 'A key lets a program call the API. It has a quota of its own, so nothing spends more than you want.',
    action: 'Create a key',
  },
};
