import type { Token } from '../../../api/tokens';
import { formatUsd, MAX_QUOTA, parseUsd } from '../../../format/money';
import { texts } from '../../../texts';

/** Only keys with a limit in total have quota that can be added to. */
export function hasQuota({ unlimited_quota }: Token): boolean {
  return !unlimited_quota;
}

/** The quota units of a typed amount, or what is wrong with it. */
export function quotaToAdd(typed: string): { units: number } | { error: string; isEmpty: boolean } {
  const parsed = parseUsd(typed);
  const { usdErrors } = texts.common;
  const { nothing } = texts.keys.addQuota;
  if ('error' in parsed) return { error: usdErrors[parsed.error], isEmpty: parsed.error === 'empty' };
  if (parsed.units === 0) return { error: nothing, isEmpty: false };
  if (parsed.units > MAX_QUOTA) {
    return { error: texts.keys.form.errors.largeQuota(formatUsd(MAX_QUOTA)), isEmpty: false };
  }
  return parsed;
}
