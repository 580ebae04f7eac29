import { language, languageTags, locale } from './locale';
import { formatUsd, UNITS_PER_USD, usd } from './money';

// Variants differ: British English has "31.8m" for what is easily read as metres or thousandths.
const tag = languageTags[language];
const compact = new Intl.NumberFormat(tag, { notation: 'compact', maximumFractionDigits: 1 });
const compactUsd = new Intl.NumberFormat(tag, {
  ...usd,
  notation: 'compact',
  minimumFractionDigits: 0,
  maximumFractionDigits: 1,
});

const wholeUsd = new Intl.NumberFormat(locale, { ...usd, maximumFractionDigits: 0 });

const TEN = 10 * UNITS_PER_USD;
const LARGE = 1000 * UNITS_PER_USD;
const CENT = UNITS_PER_USD / 100;

/** For example "52.3K". Use it only where the exact number is also shown. */
export function formatCompact(value: number): string {
  return compact.format(value);
}

/** For example "$12.42", "$1.2K" or "<$0.01": short enough for a chart bar. */
export function formatUsdCompact(units: number): string {
  return units < LARGE - CENT / 2 ? formatUsd(units) : compactUsd.format(units / UNITS_PER_USD);
}

/** For example "$20". Only for whole dollars below 1000: "$1,500" cannot be typed. */
export function formatWholeUsd(units: number): string {
  return wholeUsd.format(units / UNITS_PER_USD);
}

/** For example "$0", "$0.50", "$20" or "$1.5K": a line of a chart with lines every `step` units. */
export function formatUsdTick(units: number, step: number): string {
  if (units === 0) return formatWholeUsd(0);
  if (step < UNITS_PER_USD) return formatUsd(units);
  return units < LARGE ? formatWholeUsd(units) : compactUsd.format(units / UNITS_PER_USD);
}

/** At most six characters, for narrow chart bars: "<1¢", "$0.42", "$12", "$1.2K". */
export function formatUsdShort(units: number): string {
  if (units > 0 && units < CENT / 2) return '<1¢';
  if (units < TEN - CENT / 2) return formatUsd(units);
  return units < LARGE - UNITS_PER_USD / 2 ? formatWholeUsd(units) : compactUsd.format(units / UNITS_PER_USD);
}
