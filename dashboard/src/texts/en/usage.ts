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
  hiddenRanks: (shown: string, hidden: string) =>
    `The ${shown} with the highest spend. The export also has the other ${hidden}.`,
  empty: { title: 'No usage', hint: 'No key was used on these days.' },
};
