import type { User } from '../api/session';
import { makePeriodUsage } from './makeToken';

/** A user for tests, with defaults. */
export function makeUser(fields: Partial<User> = {}): User {
  return {
    id: 7,
    username: 'ana',
    display_name: '',
    email: '',
    role: 1,
    status: 1,
    group: 'default',
    quota: 500_000,
    used_quota: 0,
    request_count: 0,
    max_tokens: null,
    token_api_enabled: true,
    period_limits: { day: -1, week: -1, month: -1 },
    period_usage: makePeriodUsage(),
    created_time: 1_800_000_000,
    ...fields,
  };
}
