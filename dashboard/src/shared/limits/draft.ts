import {
  NO_LIMIT,
  type Period,
  type PeriodLimits,
  periods,
  type Rate,
  type RateLimits,
} from '../../api/limits';
import { requestLimits } from '../../api/serverLimits';
import { formatInteger } from '../../format/locale';
import { formatUsd, MAX_QUOTA, usdInput } from '../../format/money';
import { parseInteger, parseUsd } from '../../format/typed';
import { texts } from '../../texts';

/** Limits in US dollars, as typed. An empty text is no limit. */
export type PeriodDraft = Record<Period, string>;
/** Rates as typed. An empty text is no limit. */
export type RateDraft = Record<Rate, string>;

const MAX_RATE = requestLimits.RateLimitsChange.concurrency.maximum;
const words = texts.limits.errors;

export const emptyPeriods: PeriodDraft = { day: '', week: '', month: '' };
export const emptyRates: RateDraft = { requests_per_minute: '', tokens_per_minute: '', concurrency: '' };

export function periodDraftOf({ day, week, month }: PeriodLimits): PeriodDraft {
  const typed = (units: number) => (units === NO_LIMIT ? '' : usdInput(units));
  return { day: typed(day), week: typed(week), month: typed(month) };
}

export function rateDraftOf(limits: RateLimits): RateDraft {
  const typed = (limit: number) => (limit === NO_LIMIT ? '' : String(limit));
  return {
    requests_per_minute: typed(limits.requests_per_minute),
    tokens_per_minute: typed(limits.tokens_per_minute),
    concurrency: typed(limits.concurrency),
  };
}

/** The quota units of a valid limit. */
export function readPeriodLimit(typed: string): number | undefined {
  if (typed.trim() === '') return NO_LIMIT;
  const parsed = parseUsd(typed);
  return 'units' in parsed ? parsed.units : undefined;
}

/** The periods whose limit is reached before that of a shorter one, as $10 a week is before $50 a day. */
export function reachedFirst(draft: PeriodDraft): ('week' | 'month')[] {
  const limits = periods.map((period) => readPeriodLimit(draft[period]) ?? NO_LIMIT);
  return (['week', 'month'] as const).filter((period) => {
    const index = periods.indexOf(period);
    const limit = limits[index] ?? NO_LIMIT;
    return limit > 0 && limits.slice(0, index).some((shorter) => shorter > limit);
  });
}

function readRate(typed: string): number | undefined {
  return typed.trim() === '' ? NO_LIMIT : parseInteger(typed);
}

/** The limits of a valid draft, for the API. */
export function periodLimitsOf({ day, week, month }: PeriodDraft) {
  return { day: readPeriodLimit(day), week: readPeriodLimit(week), month: readPeriodLimit(month) };
}

export function rateLimitsOf(draft: RateDraft) {
  return {
    requests_per_minute: readRate(draft.requests_per_minute),
    tokens_per_minute: readRate(draft.tokens_per_minute),
    concurrency: readRate(draft.concurrency),
  };
}

/** The members that differ. `undefined` if none does. */
export function changedLimits<Name extends string>(
  limits: Record<Name, number | undefined>,
  before: Record<Name, number>,
): Partial<Record<Name, number>> | undefined {
  const names = Object.keys(limits) as Name[];
  const changed = names.filter((name) => limits[name] !== undefined && limits[name] !== before[name]);
  if (changed.length === 0) return undefined;
  return Object.fromEntries(changed.map((name) => [name, limits[name]])) as Partial<Record<Name, number>>;
}

export function periodError(typed: string): string | undefined {
  if (typed.trim() === '') return undefined;
  const parsed = parseUsd(typed);
  if ('error' in parsed) return texts.common.usdErrors[parsed.error];
  return parsed.units > MAX_QUOTA ? words.large(formatUsd(MAX_QUOTA)) : undefined;
}

export function rateError(typed: string): string | undefined {
  const limit = readRate(typed);
  if (limit === undefined) return words.notANumber;
  return limit > MAX_RATE ? words.large(formatInteger(MAX_RATE)) : undefined;
}
