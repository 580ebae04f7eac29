import { describe, expect, it } from 'vitest';
import { makeToken } from '../../../test/makeToken';
import { changesOf, type Draft, draftOf, emptyDraft, fieldsOf } from './draft';

const NOW = 1_800_000_000;

const full = makeToken({
  note: 'Owner: data team\nRenew in spring',
  remain_quota: 499_999,
  expired_time: NOW + 61,
  period_limits: { day: 2_500_000, week: -1, month: 50_000_000 },
  rate_limits: { requests_per_minute: 60, tokens_per_minute: -1, concurrency: 5 },
  model_limits_enabled: true,
  model_limits: 'gpt-5,o3',
  allow_ips: '10.0.0.1\n::1',
  group: 'auto',
  cross_group_retry: true,
});

describe('changesOf', () => {
  it.each([makeToken(), full, makeToken({ unlimited_quota: true, remain_quota: 3 })])(
    'is empty without changes',
    (token) => {
      expect(changesOf(draftOf(token), token, NOW)).toEqual({});
    },
  );

  it.each<[string, Partial<Draft>, object]>([
    ['a name, trimmed', { name: ' New ' }, { name: 'New' }],
    ['no change for a name with spaces', { name: ' Production ' }, {}],
    ['a note with lines, trimmed', { note: ' one\n two \n' }, { note: 'one\n two' }],
    ['an emptied note', { note: '  ' }, { note: '' }],
    ['more quota', { usd: '2.5' }, { add_quota: 1_250_000 }],
    ['less quota', { quotaMode: 'take', usd: '0.5' }, { add_quota: -250_000 }],
    ['no change for nothing to add', { usd: '0.00' }, {}],
    ['the quota', { quotaMode: 'set', usd: '2.5' }, { remain_quota: 1_250_000 }],
    ['no change for the same quota in another format', { quotaMode: 'set', usd: '$0.999998' }, {}],
    [
      'only the changed limits',
      { periodLimits: { day: '6', week: '', month: '$100.00' } },
      { period_limits: { day: 3_000_000 } },
    ],
    [
      'removed and new limits',
      {
        periodLimits: { day: '', week: '0', month: '100' },
        rateLimits: { requests_per_minute: ' ', tokens_per_minute: '100,000', concurrency: '5' },
      },
      {
        period_limits: { day: -1, week: 0 },
        rate_limits: { requests_per_minute: -1, tokens_per_minute: 100_000 },
      },
    ],
    ['unlimited', { unlimited: true, usd: 'nonsense' }, { unlimited_quota: true }],
    ['the expiry', { expiry: { choice: 'never', at: undefined } }, { expired_time: -1 }],
    [
      'an expiry relative to now',
      { expiry: { choice: 'day', at: undefined } },
      { expired_time: NOW + 86_400 },
    ],
    ['no models', { models: [] }, { model_limits: '' }],
    ['models not limited', { limitModels: false }, { model_limits_enabled: false }],
    ['addresses', { ips: '10.0.0.2, ::1\n\n' }, { allow_ips: '10.0.0.2\n::1' }],
    ['no change for the same addresses', { ips: ' 10.0.0.1\n\n::1' }, {}],
    ['another group, without the retry', { group: 'vip' }, { group: 'vip', cross_group_retry: false }],
  ])('has %s', (_, touched, changes) => {
    expect(changesOf({ ...draftOf(full), ...touched }, full, NOW)).toEqual(changes);
  });
});

describe('fieldsOf', () => {
  it('has a quota only if it is limited', () => {
    const limited = fieldsOf({ ...emptyDraft, usd: '5' }, NOW);
    expect([limited.unlimited_quota, limited.remain_quota]).toEqual([false, 2_500_000]);
    const unlimited = fieldsOf({ ...emptyDraft, usd: '5', unlimited: true }, NOW);
    expect([unlimited.unlimited_quota, unlimited.remain_quota]).toEqual([true, undefined]);
  });

  it('has no limits by default', () => {
    const fields = fieldsOf(emptyDraft, NOW);
    expect(fields.period_limits).toEqual({ day: -1, week: -1, month: -1 });
    expect(fields.rate_limits).toEqual({ requests_per_minute: -1, tokens_per_minute: -1, concurrency: -1 });
  });
});
