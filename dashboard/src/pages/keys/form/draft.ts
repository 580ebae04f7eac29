import type { TokenChanges } from '../../../api/tokenChanges';
import type { Token } from '../../../api/tokens';
import { parseUsd, usdInput } from '../../../format/money';
import {
  changedLimits,
  emptyPeriods,
  emptyRates,
  type PeriodDraft,
  periodDraftOf,
  periodLimitsOf,
  type RateDraft,
  rateDraftOf,
  rateLimitsOf,
} from '../../../shared/limits/draft';
import { type Expiry, expiredTime, expiryOf } from './expiry';

export const AUTO = 'auto';

/** Gateways charge a token while its form is open, so adding and taking do not depend on what is left. */
export type QuotaMode = 'add' | 'take' | 'set';

/** The values of the token form. */
export interface Draft {
  name: string;
  note: string;
  unlimited: boolean;
  quotaMode: QuotaMode;
  /** The amount, as typed. To add or take nothing, it may be empty. */
  usd: string;
  /** What was left when the form opened, in quota units. */
  held: number;
  periodLimits: PeriodDraft;
  rateLimits: RateDraft;
  expiry: Expiry;
  limitModels: boolean;
  models: string[];
  ips: string;
  /** Empty means the group of the owner. */
  group: string;
  crossGroupRetry: boolean;
}

export const emptyDraft: Draft = {
  name: '',
  note: '',
  unlimited: false,
  quotaMode: 'set',
  usd: '',
  held: 0,
  periodLimits: emptyPeriods,
  rateLimits: emptyRates,
  expiry: { choice: 'never', at: undefined },
  limitModels: false,
  models: [],
  ips: '',
  group: '',
  crossGroupRetry: false,
};

export function draftOf(token: Token): Draft {
  return {
    name: token.name,
    note: token.note,
    unlimited: token.unlimited_quota,
    ...quotaDraft(token.unlimited_quota ? 'set' : 'add', token.remain_quota),
    held: token.remain_quota,
    periodLimits: periodDraftOf(token.period_limits),
    rateLimits: rateDraftOf(token.rate_limits),
    expiry: expiryOf(token.expired_time),
    limitModels: token.model_limits_enabled,
    models: token.model_limits.split(',').filter((name) => name !== ''),
    ips: token.allow_ips,
    group: token.group,
    crossGroupRetry: token.cross_group_retry,
  };
}

/** How a way to change the quota begins: with nothing to add or take, or with what is left. */
export function quotaDraft(quotaMode: QuotaMode, held: number): Pick<Draft, 'quotaMode' | 'usd'> {
  return { quotaMode, usd: quotaMode === 'set' ? usdInput(held) : '' };
}

/** `remain_quota` or `add_quota` of the API, or neither. */
function quotaFields({ unlimited, quotaMode, usd }: Draft): Pick<TokenChanges, 'remain_quota' | 'add_quota'> {
  const parsed = parseUsd(usd);
  if (unlimited || 'error' in parsed) return {};
  if (quotaMode === 'set') return { remain_quota: parsed.units };
  if (parsed.units === 0) return {};
  return { add_quota: quotaMode === 'take' ? -parsed.units : parsed.units };
}

/** Converts a valid draft to the fields of the API. */
export function fieldsOf(draft: Draft, now: number) {
  return {
    name: draft.name.trim(),
    note: draft.note.trim(),
    expired_time: expiredTime(draft.expiry, now),
    unlimited_quota: draft.unlimited,
    ...quotaFields(draft),
    period_limits: periodLimitsOf(draft.periodLimits),
    rate_limits: rateLimitsOf(draft.rateLimits),
    model_limits_enabled: draft.limitModels,
    model_limits: draft.models.join(','),
    allow_ips: draft.ips
      .split(/[\n,]/)
      .map((entry) => entry.trim())
      .filter((entry) => entry !== '')
      .join('\n'),
    group: draft.group,
    cross_group_retry: draft.group === AUTO && draft.crossGroupRetry,
  } satisfies TokenChanges;
}

/** The fields, and the members of limits, that differ from the original token. An edit sends only these. */
export function changesOf(draft: Draft, token: Token, now: number): TokenChanges {
  const { period_limits, rate_limits, ...others } = fieldsOf(draft, now);
  const fields = {
    ...others,
    period_limits: changedLimits(period_limits, token.period_limits),
    rate_limits: changedLimits(rate_limits, token.rate_limits),
  };
  return Object.fromEntries(
    Object.entries(fields).filter(
      ([name, value]) => value !== undefined && value !== token[name as keyof Token],
    ),
  );
}
