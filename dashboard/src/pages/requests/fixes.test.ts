import { describe, expect, it } from 'vitest';
import type { PastRequest } from '../../api/requestHistory';
import { fixOf } from './fixes';

const refused = (reason: string, period?: string) =>
  ({ model: 'o3', ip: '192.0.2.7', refusal: { reason, period } }) as PastRequest;

describe('fixOf', () => {
  it.each([
    ['model_not_allowed', 'Allow o3', { path: 'model_limits', add: 'o3' }],
    ['ip_not_allowed', 'Allow this address', { path: 'allow_ips', add: '192.0.2.7' }],
    ['token_period_exceeded', 'Raise the limit', { path: 'period_limits.week' }],
    ['rate_limited', 'Raise the limit', { path: 'rate_limits.requests_per_minute' }],
    ['too_many_concurrent', 'Raise the limit', { path: 'rate_limits.concurrency' }],
    ['token_exhausted', 'Add quota', { path: 'remain_quota' }],
    ['token_quota_insufficient', 'Add quota', { path: 'remain_quota' }],
    ['token_disabled', 'Enable', 'enable'],
    ['token_expired', 'Extend', { path: 'expired_time' }],
  ])('of %s is %s', (reason, label, fix) => {
    expect(fixOf(refused(reason, 'week'))).toEqual({ label, fix });
  });

  it.each(['user_quota_insufficient', 'user_period_exceeded', 'invalid_key', 'from_a_newer_server'])(
    'of %s is none, because the owner of a key cannot do it',
    (reason) => {
      expect(fixOf(refused(reason))).toBeUndefined();
    },
  );
});
