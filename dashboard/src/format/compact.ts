import { language, languageTags, locale } from './locale';
import { formatUsd, UNITS_PER_USD, usd } from './money';

// Variants differ: British English has "31.8m" for what is easily read as metres or thousandths.
const tag = languageTags[language];
// Chinese shortens from 10,000, and would write 8000 without a comma.
const short = { notation: 'compact', useGrouping: 'always' } as const;
const compact = new Intl.NumberFormat(tag, { ...short, maximumFractionDigits: 1 });
const oneDecimal = new Intl.NumberFormat(tag, {
  ...short,
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
});
const compactUsd = new Intl.NumberFormat(tag, {
  ...usd,
  ...short,
  minimumFractionDigits: 0,
  maximumFractionDigits: 1,
});

const oneDecimalUsd = new Intl.NumberFormat(tag, {
  ...usd,
  ...short,
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
});

const wholeUsd = new Intl.NumberFormat(locale, { ...usd, maximumFractionDigits: 0 });

const TEN = 10 * UNITS_PER_USD;
const LARGE = 1000 * UNITS_PER_USD;
const CENT = UNITS_PER_USD / 100;
const MICRO_PLACES = 6;

/** For example "52.3K" or "5.0M", but "999". Use it only where the exact number is also shown. */
export function formatCompact(value: number): string {
  return (isShortened(value) ? oneDecimal : compact).format(value);
}

/** English shortens from 1,000, Chinese from 10,000. */
function isShortened(value: number): boolean {
  return compact.formatToParts(value).some(({ type }) => type === 'compact');
}

/** For example "$20" or "$8,000". */
export function formatWholeUsd(units: number): string {
  return wholeUsd.format(units / UNITS_PER_USD);
}

/** The labels above the bars of a chart whose highest is `most`: all of one precision. */
export function barFormat(most: number, isNarrow: boolean): (units: number) => string {
  if (most >= LARGE - (isNarrow ? UNITS_PER_USD : CENT) / 2) return formatLarge;
  if (isNarrow && most >= TEN - CENT / 2) return formatShort;
  return isNarrow || most >= CENT ? formatCents : formatUsd;
}

/** "$1.2K", "$12" or "<$1". */
function formatLarge(units: number): string {
  const dollars = Math.round(units / UNITS_PER_USD);
  return dollars < 1000 || !isShortened(dollars) ? formatShort(units) : oneDecimalUsd.format(dollars);
}

/** "$12" or "<$1". */
function formatShort(units: number): string {
  return units > 0 && units < UNITS_PER_USD / 2 ? `<${formatWholeUsd(UNITS_PER_USD)}` : formatWholeUsd(units);
}

/** "$0.42" or "<1¢". */
function formatCents(units: number): string {
  return units > 0 && units < CENT / 2 ? '<1¢' : formatUsd(Math.round(units / CENT) * CENT);
}

/** For example "$0", "$0.50", "$20" or "$15K": a line of a chart with lines every `step` units, up to `top`. */
export function formatUsdTick(units: number, step: number, top: number): string {
  if (units === 0 || (step >= UNITS_PER_USD && top < TEN * 1000)) return formatWholeUsd(units);
  if (step >= UNITS_PER_USD) return compactUsd.format(units / UNITS_PER_USD);
  const places = Math.min(MICRO_PLACES, Math.max(2, Math.ceil(-Math.log10(step / UNITS_PER_USD) - 1e-9)));
  const format = new Intl.NumberFormat(locale, {
    ...usd,
    minimumFractionDigits: places,
    maximumFractionDigits: places,
  });
  return format.format(units / UNITS_PER_USD);
}
