import { formatUsd, MAX_QUOTA } from '../../../format/money';
import { parseUsd } from '../../../format/typed';
import { texts } from '../../../texts';

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
