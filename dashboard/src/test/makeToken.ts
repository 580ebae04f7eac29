import type { Token } from '../api/tokens';

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
    model_limits_enabled: false,
    model_limits: '',
    allow_ips: '',
    group: '',
    cross_group_retry: false,
    ...fields,
  };
}
