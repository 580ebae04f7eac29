import type { Cure } from '../../api/outlook';
import { formatUsd } from '../../format/money';
import { sentence } from '../../format/sentence';
import { formatDateTime, formatRelative } from '../../format/time';
import { texts } from '../../texts';
import { textOf } from '../../texts/textOf';

const { refused, limit: words, cure } = texts.usage;

/** Why a request was refused, as the API has it of single ones and of those of the last hour. */
interface Refused {
  reason: string;
  message?: string | null;
  /** Of a limit of a day, a week or a month. */
  period?: string | null;
  limit?: number | null;
  used?: number | null;
  resets_at?: number | null;
  /** The amount that was asked for. */
  requested?: number | null;
}

/** The sentence of the API has their figures, no other member. */
const RATES = ['rate_limited', 'too_many_concurrent'];
const AMOUNTS = [
  'token_quota_insufficient',
  'user_quota_insufficient',
  'token_period_exceeded',
  'user_period_exceeded',
];
const periods: Record<string, Record<string, string>> = refused.periods;

/** The reason of a refusal in words. */
export function reasonText(reason: string): string {
  return textOf(refused.reasons, reason) ?? refused.otherReason(reason);
}

/** The same, and of a limit which one. */
export function refusalTitle({ reason, period }: Refused): string {
  return textOf(periods[reason] ?? {}, period ?? '') ?? reasonText(reason);
}

/** Of a limit how much of it was used, how much was asked for and when it renews; else an empty text. */
export function refusalDetails(refusal: Refused, now: number): string {
  const { reason, message, limit, used, resets_at, requested } = refusal;
  if (RATES.includes(reason)) return message ? sentence(message) : '';
  if (!AMOUNTS.includes(reason)) return '';
  if (limit === 0) return texts.limits.zero;
  const parts: string[] = [];
  const isTooLarge = limit != null && requested != null && requested > limit;
  if (limit != null) parts.push(words.used(formatUsd(used ?? 0), formatUsd(limit)));
  if (requested != null) parts.push((isTooLarge ? words.askedTooMuch : words.asked)(formatUsd(requested)));
  if (resets_at != null && !isTooLarge) {
    parts.push((resets_at > now ? words.renews : words.renewed)(formatDateTime(resets_at)));
  }
  return parts.join(' · ');
}

/** Since when a request would pass that was refused. */
export function cureText({ at }: Cure, now: number): string {
  return at == null ? cure.passes : cure.fixed(formatRelative(at, now));
}
