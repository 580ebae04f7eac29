import type { Period } from '../../../api/limits';
import { texts } from '../../../texts';
import type { Fix } from '../form/fix';

const words = texts.usage.fixes;

/** What stops a key, or soon will: why a request was refused, or why the key needs attention. */
export interface Trouble {
  reason: string;
  /** Of a limit of a day, a week or a month. */
  period?: string | null;
  model?: string | null;
  ip?: string | null;
}

export interface Relief {
  label: string;
  fix: Fix | 'enable' | 'price';
}

/** What the owner of the key can do about it, or an administrator about a price; `undefined` if nothing. */
export function fixOf({ reason, period, model, ip }: Trouble): Relief | undefined {
  switch (reason) {
    case 'model_not_allowed':
      return model ? { label: words.allow(model), fix: { path: 'model_limits', add: model } } : undefined;
    case 'ip_not_allowed':
      return { label: words.allowAddress, fix: { path: 'allow_ips', add: ip ?? undefined } };
    case 'token_period_exceeded':
    case 'limit_reached':
      return {
        label: period ? (words.raisePeriod[period as Period] ?? words.raise) : words.raise,
        fix: { path: period ? `period_limits.${period}` : ANY_PERIOD },
      };
    case 'rate_limited':
      return { label: words.raise, fix: { path: 'rate_limits.requests_per_minute' } };
    case 'too_many_concurrent':
      return { label: words.raise, fix: { path: 'rate_limits.concurrency' } };
    case 'token_exhausted':
    case 'token_quota_insufficient':
    case 'exhausted':
    case 'nearly_spent':
      return { label: words.addQuota, fix: { path: 'remain_quota' } };
    case 'token_disabled':
      return { label: words.enable, fix: 'enable' };
    case 'token_expired':
    case 'expired':
    case 'expires_soon':
      return { label: words.extend, fix: { path: 'expired_time' } };
    case 'model_not_priced':
      return { label: words.addPrice, fix: 'price' };
    case 'group_not_allowed':
      return { label: words.changeGroup, fix: { path: 'group' } };
    default:
      return undefined;
  }
}

/** The path of the limits while it is not known which one was reached. */
export const ANY_PERIOD = 'period_limits';
