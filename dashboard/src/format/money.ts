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

const exact = new Intl.NumberFormat(locale, { ...usd, maximumFractionDigits: PLACES });
const cents = new Intl.NumberFormat(locale, usd);

function format(formatter: Intl.NumberFormat, units: number): string {
  return formatter.format(usdInput(units) as Intl.StringNumericLiteral);
}

/** The exact amount: "$0.000002", "$1.50". */
export function formatUsdExact(units: number): string {
  return format(exact, units);
}

/** An amount rounded to whole cents, the same everywhere. What would be zero cents is "<$0.01". */
export function formatUsd(units: number): string {
  if (units === 0 || roundToCents(units) !== 0) return format(cents, units);
  return units > 0 ? `<${format(cents, CENT)}` : `>${format(cents, -CENT)}`;
}

/** A difference with its sign: "+$1.50". */
export function formatChange(units: number): string {
  return units > 0 ? `+${formatUsd(units)}` : formatUsd(units);
}

const hundredths = new Intl.NumberFormat(locale, { ...usd, maximumFractionDigits: 4 });

/** The cost of a single request, which is often below a cent: up to 4 decimal places. */
export function formatCost(units: number): string {
  return format(hundredths, units);
}

function roundToCents(units: number): number {
  return Math.sign(units) * Math.round(Math.abs(units) / CENT) * CENT;
}

/** By how many units parts, each rounded to cents, add up to more than their rounded total. Negative for less. */
export function roundingGap(parts: number[]): number {
  const shown = parts.reduce((sum, part) => sum + roundToCents(part), 0);
  return shown - roundToCents(parts.reduce((sum, part) => sum + part, 0));
}
