import { NO_LIMIT, type Period, type PeriodUsage, periods, type UsageOfPeriod } from '../../api/limits';
import { formatInteger } from '../../format/locale';
import { formatUsd } from '../../format/money';
import { formatDateTime, formatDuration } from '../../format/time';
import { texts } from '../../texts';

const words = texts.limits.bar;

export interface PeriodBarTexts {
  /** Used and reserved, at most 100. */
  percent: number;
  tone: 'normal' | 'warn' | 'bad';
  /** For example "$3.20 of $5.00 today". */
  used: string;
  /** For example "resets in 3 h". */
  resets: string;
  /** The accessible name. */
  label: string;
  /** Quota units, and the date and time of the reset. */
  details: string;
}

/** The periods that have a limit. */
export function limitedPeriods(usage: PeriodUsage): Period[] {
  return periods.filter((period) => usage[period].limit !== NO_LIMIT);
}

/** The limited period with the highest share of use. */
export function tightestPeriod(usage: PeriodUsage): Period | undefined {
  const share = (period: Period) => shareOf(usage[period]);
  return limitedPeriods(usage).reduce<Period | undefined>(
    (tightest, period) => (tightest && share(tightest) >= share(period) ? tightest : period),
    undefined,
  );
}

/** The limit that refuses requests longest. If none is used up, the one of which most is used. */
export function stoppingPeriod(usage: PeriodUsage): Period | undefined {
  // A limit of 0 admits nothing after it resets either.
  const end = (period: Period) =>
    usage[period].limit === 0 ? Number.POSITIVE_INFINITY : usage[period].resets_at;
  const [longest] = limitedPeriods(usage)
    .filter((period) => usage[period].remaining <= 0)
    .sort((a, b) => end(b) - end(a));
  return longest ?? tightestPeriod(usage);
}

export function periodBarTexts(period: Period, usage: UsageOfPeriod, now: number): PeriodBarTexts {
  const { limit, used, remaining, resets_at } = usage;
  const percent = Math.floor(shareOf(usage) * 100);
  const reserved = limit - used - remaining;
  const spent = words.used[period](formatUsd(used), formatUsd(limit));
  return {
    percent,
    tone: remaining === 0 ? 'bad' : isNearlyUsedUp(usage) ? 'warn' : 'normal',
    used: reserved > 0 ? `${spent} · ${words.reserved(formatUsd(reserved))}` : spent,
    resets: resets_at > now ? words.resetsIn(formatDuration(resets_at - now)) : words.resetsNow,
    label: words.share[period](percent),
    details: words.units(formatInteger(used), formatInteger(limit), formatDateTime(resets_at)),
  };
}

/** What cannot be used any more, from 0 to 1. A limit of 0 admits nothing. */
function shareOf({ limit, remaining }: UsageOfPeriod): number {
  return limit > 0 ? (limit - remaining) / limit : 1;
}

/** More than 80 % is used. */
function isNearlyUsedUp({ limit, remaining }: UsageOfPeriod): boolean {
  return (limit - remaining) * 5 > limit * 4;
}
