import type { PeriodUsage } from '../api/limits';
import type { TokenFieldName } from '../api/tokenChanges';
import type { Token } from '../api/tokens';
import { emptyDraft, fieldsOf } from '../pages/keys/form/draft';

/** Usage without limits, for tests, with defaults. */
export function makePeriodUsage(fields: Partial<PeriodUsage> = {}): PeriodUsage {
  const unlimited = { limit: -1, used: 0, remaining: -1, resets_at: 1_800_000_000 };
  return { day: unlimited, week: unlimited, month: unlimited, ...fields };
}

// As a token is created, if only its name and quota are given.
const { add_quota: _, ...defaults } = fieldsOf(emptyDraft, 0);

/** A token for tests, with defaults. */
export function makeToken(fields: Partial<Token> = {}): Token {
  return {
    ...(defaults as Pick<Token, TokenFieldName>),
    id: 7,
    user_id: 1,
    key: '',
    masked_key: 'sk-ab12**********wxyz',
    status: 1,
    state: 'working',
    name: 'Production',
    created_time: 1_800_000_000,
    accessed_time: 1_800_000_000,
    remain_quota: 500_000,
    unlimited_quota: false,
    used_quota: 0,
    period_usage: makePeriodUsage(),
    ...fields,
  };
}
