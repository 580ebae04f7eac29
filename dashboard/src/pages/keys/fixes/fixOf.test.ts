import { describe, expect, it } from 'vitest';
import { fixOf } from './fixOf';

const trouble = (reason: string, period?: string) => ({ reason, period, model: 'o3', ip: '192.0.2.7' });

describe('fixOf', () => {
  it.each([
    ['model_not_allowed', 'Allow o3', { path: 'model_limits', add: 'o3' }],
    ['ip_not_allowed', 'Allow this address', { path: 'allow_ips', add: '192.0.2.7' }],
    ['token_period_exceeded', 'Raise the weekly limit', { path: 'period_limits.week' }],
    ['limit_reached', 'Raise the weekly limit', { path: 'period_limits.week' }],
    ['rate_limited', 'Raise the limit', { path: 'rate_limits.requests_per_minute' }],
    ['too_many_concurrent', 'Raise the limit', { path: 'rate_limits.concurrency' }],
    ['token_exhausted', 'Add quota', { path: 'remain_quota' }],
    ['token_quota_insufficient', 'Add quota', { path: 'remain_quota' }],
    ['exhausted', 'Add quota', { path: 'remain_quota' }],
    ['nearly_spent', 'Add quota', { path: 'remain_quota' }],
    ['token_disabled', 'Enable', 'enable'],
    ['token_expired', 'Extend', { path: 'expired_time' }],
    ['expired', 'Extend', { path: 'expired_time' }],
    ['expires_soon', 'Extend', { path: 'expired_time' }],
    ['model_not_priced', 'Add a price', 'price'],
    ['group_not_allowed', 'Change the group', { path: 'group' }],
  ])('of %s is %s', (reason, label, fix) => {
    expect(fixOf(trouble(reason, 'week'))).toEqual({ label, fix });
  });

  it.each([
    'user_quota_insufficient',
    'user_period_exceeded',
    'exceeds_wallet',
    'invalid_key',
    'from_a_newer_server',
  ])('of %s is none, because the owner of a key cannot do it', (reason) => {
    expect(fixOf(trouble(reason))).toBeUndefined();
  });

  it('names no limit if it is not known which one was reached', () => {
    expect(fixOf(trouble('token_period_exceeded'))).toEqual({
      label: 'Raise the limit',
      fix: { path: 'period_limits' },
    });
  });
});
