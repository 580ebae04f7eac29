export const usage = {
  title: 'Usage',
  description: 'What all your keys spend, deleted ones included.',
  byDay: 'Spend by day',
  spent: 'Spent',
  requests: 'Requests',
  tokens: 'Tokens',
  ranking: 'Keys by spend',
  rank: 'Rank',
  key: 'Key',
  share: 'Share',
  percent: (percent: string) => `${percent}% of the spend`,
  empty: { title: 'No usage', hint: 'No key was used on these days.' },
};
