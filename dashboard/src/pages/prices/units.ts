import type { Rate } from '../../api/prices';
import { formatCount, formatRate } from '../../format/rate';
import { texts } from '../../texts';
import { textOf } from '../../texts/textOf';

const words = texts.prices;
const HOUR = 3600;
const MILLION = 1_000_000;
const BILLION = 1_000_000_000;

/** What is counted, in words. A unit that the dashboard does not know has its own name. */
export function unitName(unit: string): string {
  return textOf(words.units, unit) ?? unit.replaceAll('_', ' ');
}

/** The name of a unit as a label. */
export function unitLabel(unit: string): string {
  return capitalized(unitName(unit));
}

/** For how many a rate is: "1,000" or "million". */
export function perText(per: number): string {
  if (per === MILLION) return words.million;
  return per === BILLION ? words.billion : formatCount(String(per));
}

/** For example "$10.00 per 1,000 web searches". */
export function ratePerUnit({ usd, per, unit }: Pick<Rate, 'usd' | 'per' | 'unit'>): string {
  const hour = per === HOUR ? textOf(words.hours, unit) : undefined;
  if (hour) return words.per.hour(formatRate(usd), hour);
  if (per === 1) return words.per.each(formatRate(usd), unitLabel(unit));
  return words.per.many(formatRate(usd), perText(per), unitName(unit));
}

/** What a price depends on besides the model, such as "service tier", in words. */
export function contextName(name: string): string {
  return textOf(words.contexts, name) ?? name.replaceAll('_', ' ');
}

/** The same as a label. */
export function contextLabel(name: string): string {
  return capitalized(contextName(name));
}

/** For example "service tier: priority". */
export function contextText(when: Record<string, string | null>): string[] {
  return Object.entries(when).map(([name, value]) => texts.common.labelled(contextName(name), value ?? ''));
}

function capitalized(text: string): string {
  return text.charAt(0).toLocaleUpperCase() + text.slice(1);
}
