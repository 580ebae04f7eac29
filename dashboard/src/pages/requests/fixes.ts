import type { PastRequest } from '../../api/requestHistory';
import { texts } from '../../texts';
import type { Fix } from '../keys/form/fix';

const words = texts.usage.fixes;

/** What the owner of the key can do so that such a request passes, or `undefined` if nothing. */
export function fixOf({
  refusal,
  model,
  ip,
}: PastRequest): { label: string; fix: Fix | 'enable' } | undefined {
  switch (refusal?.reason) {
    case 'model_not_allowed':
      return model ? { label: words.allow(model), fix: { path: 'model_limits', add: model } } : undefined;
    case 'ip_not_allowed':
      return { label: words.allowAddress, fix: { path: 'allow_ips', add: ip ?? undefined } };
    case 'token_period_exceeded':
      return { label: words.raise, fix: { path: `period_limits.${refusal.period ?? 'day'}` } };
    case 'rate_limited':
      return { label: words.raise, fix: { path: 'rate_limits.requests_per_minute' } };
    case 'too_many_concurrent':
      return { label: words.raise, fix: { path: 'rate_limits.concurrency' } };
    case 'token_exhausted':
    case 'token_quota_insufficient':
      return { label: words.addQuota, fix: { path: 'remain_quota' } };
    case 'token_disabled':
      return { label: words.enable, fix: 'enable' };
    case 'token_expired':
      return { label: words.extend, fix: { path: 'expired_time' } };
    default:
      return undefined;
  }
}
