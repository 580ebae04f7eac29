import type { RefusalReason } from '../../api/refusedRequests';
import { plural } from './plural';

export const usage = {
  title: 'Usage',
  description: 'What all your keys spend, deleted ones included.',
  byDay: 'Spend by day',
  spent: 'Spent',
  requests: 'Requests',
  tokens: 'Tokens',
  ranking: 'Keys by spend',
  models: 'Models by spend',
  model: 'Model',
  noModel: 'No model named',
  rank: 'Rank',
  key: 'Key',
  share: 'Share',
  percent: (percent: string) => `${percent}% of the spend`,
  hiddenRanks: (shown: string, hidden: string) =>
    `The ${shown} with the highest spend. The export also has the other ${hidden}.`,
  empty: { title: 'No usage', hint: 'No key was used on these days.' },
  refused: {
    title: 'Refused requests',
    description: 'Requests that the limits and settings of keys and accounts refused, by reason.',
    total: (count: number) =>
      `${plural(count, 'request was', 'requests were')} refused by the limits and settings of keys and accounts.`,
    empty: 'No request was refused on these days.',
    reason: 'Reason',
    reasons: {
      invalid_key: 'Unknown key',
      token_disabled: 'Key disabled',
      token_expired: 'Key expired',
      user_disabled: 'Account disabled',
      group_not_allowed: 'Group no longer available',
      model_not_allowed: 'Model not allowed',
      ip_not_allowed: 'IP address not allowed',
      token_exhausted: 'Quota of the key used up',
      token_quota_insufficient: 'Not enough quota left on the key',
      user_quota_insufficient: 'Not enough in the wallet',
      token_period_exceeded: 'Daily, weekly or monthly limit of the key reached',
      user_period_exceeded: 'Daily, weekly or monthly limit of the account reached',
      rate_limited: 'Rate limit of the key reached',
      too_many_concurrent: 'Too many requests at the same time',
      reservation_not_found: 'Unknown reservation',
      reservation_ended: 'Reservation already ended',
    } satisfies Record<RefusalReason, string>,
    otherReason: (code: string) => `Another reason (${code})`,
  },
};
