import { limits, requestLimits } from '../api/serverLimits';
import { locale } from './locale';

/** Quota units in one US dollar (specification, section 1). */
export const UNITS_PER_USD = limits.quota_per_usd;

/** The maximum of quotas, wallets and limits, in quota units. */
export const MAX_QUOTA = requestLimits.NewUserBody.quota.maximum;

const PLACES = 6;
const MICROS_PER_USD = 10n ** BigInt(PLACES);
const MICROS_PER_UNIT = MICROS_PER_USD / BigInt(UNITS_PER_USD);
const CENT = UNITS_PER_USD / 100;

export type UsdError = 'empty' | 'not_an_amount' | 'too_many_places' | 'finer_than_a_unit' | 'too_large';
export type ParsedUsd = { units: number } | { error: UsdError };

/** Parses a typed amount such as "12", "0.5" or "$1,000.25" into quota units. Exact: it uses no floating point. */
export function parseUsd(typed: string): ParsedUsd {
  const text = typed.trim().replace(/^\$\s*/, '');
  if (text === '') return { error: 'empty' };
  const parts = /^(\d+|\d{1,3}(?:,\d{3})+)?(?:\.(\d*))?$/.exec(text);
  const whole = parts?.[1]?.replaceAll(',', '') ?? '';
  const places = parts?.[2]?.replace(/0+$/, '') ?? '';
  if (!parts || (parts[1] === undefined && !parts[2])) return { error: 'not_an_amount' };
  if (places.length > PLACES) return { error: 'too_many_places' };
  const micros = BigInt(whole || '0') * MICROS_PER_USD + BigInt(places.padEnd(PLACES, '0'));
  if (micros % MICROS_PER_UNIT !== 0n) return { error: 'finer_than_a_unit' };
  const units = micros / MICROS_PER_UNIT;
  return units > BigInt(Number.MAX_SAFE_INTEGER) ? { error: 'too_large' } : { units: Number(units) };
}

/** The exact dollar amount for an input field: 750000 → "1.5". */
export function usdInput(units: number): string {
  const micros = BigInt(Math.abs(units)) * MICROS_PER_UNIT;
  const places = (micros % MICROS_PER_USD).toString().padStart(PLACES, '0').replace(/0+$/, '');
  const sign = units < 0 ? '-' : '';
  return `${sign}${micros / MICROS_PER_USD}${places && `.${places}`}`;
}

/** "$" in every language: all amounts are in US dollars. */
export const usd = { style: 'currency', currency: 'USD', currencyDisplay: 'narrowSymbol' } as const;

const CENT_PLACES = 2;

/** Formats with at least 2 and at most `places` decimal places. */
function usdFormat(places: number): Intl.NumberFormat {
  return new Intl.NumberFormat(locale, { ...usd, maximumFractionDigits: places });
}

const exact = usdFormat(PLACES);
const cents = usdFormat(CENT_PLACES);

function format(formatter: Intl.NumberFormat, units: number): string {
  return formatter.format(usdInput(units) as Intl.StringNumericLiteral);
}

/** The exact amount: "$0.000002", "$1.50". */
export function formatUsdExact(units: number): string {
  return format(exact, units);
}

const change = new Intl.NumberFormat(locale, {
  ...usd,
  maximumFractionDigits: PLACES,
  signDisplay: 'exceptZero',
});

/** An exact difference with its sign: "+$1.50". */
export function formatChange(units: number): string {
  return format(change, units);
}

/** An amount rounded to whole cents. Amounts below one cent are exact. */
export function formatUsd(units: number): string {
  return Math.abs(units) < CENT ? formatUsdExact(units) : format(cents, units);
}

/**
 * The parts of a total, rounded so that they add up to it. A part differs by less than one rounding step from its amount,
 * and the first one is rounded like an amount on its own. The step is a cent, or smaller if a part is.
 */
export function roundParts(units: number[]): { parts: number[]; total: number; places: number } {
  const least = Math.min(...units.filter((each) => each > 0));
  const places = [CENT_PLACES, 4].find((each) => least >= UNITS_PER_USD / 10 ** each) ?? PLACES;
  const step = UNITS_PER_USD / 10 ** places;
  // The integer sums are rounded, and each part is the difference of two of them.
  const rounded = (sum: number) => (step > 1 ? Math.round(sum / step) * step : sum);
  let sum = 0;
  const parts = units.map((each) => {
    const before = rounded(sum);
    sum += each;
    return rounded(sum) - before;
  });
  return { parts, total: rounded(sum), places };
}

/** The rows of a table and their total, rounded by `roundParts`. */
export function formatRows(units: number[]): { rows: string[]; total: string } {
  const { parts, total, places } = roundParts(units);
  const formatter = usdFormat(places);
  return { rows: parts.map((each) => format(formatter, each)), total: format(formatter, total) };
}
