import type { PeriodUsage } from '../api/limits';
import type { Token } from '../api/tokens';

/** Usage without limits, for tests, with defaults. */
export function makePeriodUsage(fields: Partial<PeriodUsage> = {}): PeriodUsage {
  const unlimited = { limit: -1, used: 0, remaining: -1, resets_at: 1_800_000_000 };
  return { day: unlimited, week: unlimited, month: unlimited, ...fields };
}

/** A token for tests, with defaults. */
export function makeToken(fields: Partial<Token> = {}): Token {
  return {
    id: 7,
    user_id: 1,
    key: '',
    masked_key: 'sk-ab12**********wxyz',
    status: 1,
    name: 'Production',
    note: '',
    created_time: 1_800_000_000,
    accessed_time: 1_800_000_000,
    expired_time: -1,
    remain_quota: 500_000,
    unlimited_quota: false,
    used_quota: 0,
    period_limits: { day: -1, week: -1, month: -1 },
    period_usage: makePeriodUsage(),
    rate_limits: { requests_per_minute: -1, tokens_per_minute: -1, concurrency: -1 },
    model_limits_enabled: false,
    model_limits: '',
    allow_ips: '',
    group: '',
    cross_group_retry: false,
    ...fields,
  };
}
