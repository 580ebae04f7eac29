import { describe, expect, it } from 'vitest';
import type { Overview } from '../../api/overview';
import { makePeriodUsage, makeToken } from '../../test/makeToken';
import { explain, explainAccount, listsOf } from './attention';

const NOW = 1_800_000_000;
const DAY = 86_400;

const limitOf = (limit: number) => ({ limit, used: limit, remaining: 0, resets_at: NOW + 3 * 3600 });
const reached = makePeriodUsage({ day: limitOf(500_000) });
const nothing = makePeriodUsage({ week: limitOf(0) });

describe('explain', () => {
  it.each([
    ['expires_soon', { expired_time: NOW + 3 * DAY }, 'warn', 'Stops working in 3 d.'],
    ['nearly_spent', { used_quota: 4_700_000, remain_quota: 300_000 }, 'warn', 'Only $0.60 of $10.00 left.'],
    ['exhausted', { used_quota: 50_000, remain_quota: 0 }, 'bad', 'Its quota of $0.10 is used up.'],
    ['exhausted', { used_quota: 0, remain_quota: 0 }, 'bad', 'It has no quota.'],
    [
      'limit_reached',
      { state_until: NOW + 3 * 3600, period_usage: reached },
      'bad',
      'Its daily limit of $1.00 is used up. Works again in 3 h.',
    ],
    ['limit_reached', { period_usage: nothing }, 'bad', 'Its weekly limit of $0.00 refuses every request.'],
    ['limit_reached', {}, 'bad', 'One of its limits is used up.'],
    ['group_not_allowed', {}, 'bad', 'You may no longer use its group.'],
    ['expired', { expired_time: NOW - DAY }, 'warn', 'Stopped working 1 d ago.'],
    ['exceeds_wallet', { remain_quota: 300_000 }, 'warn', 'Has $0.60 left, but your wallet has less.'],
    ['from_a_newer_server', {}, 'info', 'This key needs attention.'],
  ])('explains %s', (reason, fields, tone, sentence) => {
    expect(explain({ reason, token: makeToken(fields) }, NOW)).toMatchObject({ tone, sentence });
  });
});

describe('explainAccount', () => {
  it.each([
    ['account_empty', null, 'Your keys won’t work until your wallet is topped up.'],
    [
      'account_limit_reached',
      NOW + DAY,
      'Your keys won’t work until the limit of your account renews in 1 d.',
    ],
    ['account_limit_reached', null, 'Your keys won’t work until the limit of your account is raised.'],
    ['from_a_newer_server', null, 'Your keys don’t work at the moment.'],
  ])('explains %s', (account_state, account_state_until, sentence) => {
    const overview = { account_state, account_state_until } as Overview;
    expect(explainAccount(overview, NOW).sentence).toBe(sentence);
  });
});

describe('the lists of keys that need attention', () => {
  const counts = { total: 90, enabled: 10, disabled: 0, expired: 0, exhausted: 0 };

  it.each([
    [{ exhausted: 40, expired: 40 }, ['/keys?state=used_up', '/keys?state=expired']],
    [{ expired: 80 }, ['/keys?state=expired']],
    [{}, ['/keys']],
  ])('are filtered: %j', (some, hrefs) => {
    expect(listsOf({ tokens: { ...counts, ...some } }).map(({ href }) => href)).toEqual(hrefs);
  });
});
