import { limits, requestLimits } from '../api/serverLimits';
import { locale } from './locale';

/** Quota units in one US dollar (specification, section 1). */
export const UNITS_PER_USD = limits.quota_per_usd;

/** The maximum of quotas, wallets and limits, in quota units. */
export const MAX_QUOTA = requestLimits.NewUserBody.quota.maximum;

/** Decimals of a dollar amount. */
export const PLACES = 6;
export const MICROS_PER_USD = 10n ** BigInt(PLACES);
export const MICROS_PER_UNIT = MICROS_PER_USD / BigInt(UNITS_PER_USD);
const CENT = UNITS_PER_USD / 100;

/** "$" in every language: all amounts are in US dollars. */
export const usd = { style: 'currency', currency: 'USD', currencyDisplay: 'narrowSymbol' } as const;

/** "1.125" is 1125 in German. With another decimal, what the dashboard writes is the same everywhere. */
const UNCLEAR = /^-?[1-9]\d{0,2}\.\d{3}$/;

/** The exact amount as `Intl` reads it: 750000 → "1.5". */
function decimalOf(units: number): Intl.StringNumericLiteral {
  const micros = BigInt(Math.abs(units)) * MICROS_PER_UNIT;
  const places = (micros % MICROS_PER_USD).toString().padStart(PLACES, '0').replace(/0+$/, '');
  const sign = units < 0 ? '-' : '';
  const text = `${sign}${micros / MICROS_PER_USD}${places && `.${places}`}`;
  return (UNCLEAR.test(text) ? `${text}0` : text) as Intl.StringNumericLiteral;
}

const exact = new Intl.NumberFormat(locale, { ...usd, maximumFractionDigits: PLACES });
const cents = new Intl.NumberFormat(locale, usd);

const fourPlaces = new Intl.NumberFormat(locale, { ...usd, minimumFractionDigits: 4 });

function format(formatter: Intl.NumberFormat, units: number): string {
  const text = decimalOf(units);
  const isPadded = formatter !== cents && /\.\d{3}0$/.test(text);
  return (isPadded ? fourPlaces : formatter).format(text);
}

const decimal = exact.formatToParts(0.5).find(({ type }) => type === 'decimal')?.value ?? '.';

/** "1.5" as people type it: "1.5", or "1,5". */
export function asTyped(text: string): string {
  return text.replace('.', decimal);
}

/** The exact amount for an input field: 750000 → "1.5", or "1,5". */
export function usdInput(units: number): string {
  return asTyped(decimalOf(units));
}

/** The exact amount: "$0.000002", "$1.50". */
export function formatUsdExact(units: number): string {
  return format(exact, units);
}

/** An amount rounded to whole cents, the same everywhere. What is less than a cent is exact: "$0.000002". */
export function formatUsd(units: number): string {
  return format(Math.abs(units) < CENT ? exact : cents, units);
}

/** A difference with its sign: "+$1.50". */
export function formatChange(units: number): string {
  return units > 0 ? `+${formatUsd(units)}` : formatUsd(units);
}

/** The amount that `formatUsd` shows. */
function shownUnits(units: number): number {
  if (Math.abs(units) < CENT) return units;
  return Math.sign(units) * Math.round(Math.abs(units) / CENT) * CENT;
}

/** By how many units parts add up to more than their total, all as `formatUsd` shows them. Negative for less. */
export function roundingGap(parts: number[]): number {
  const shown = parts.reduce((sum, part) => sum + shownUnits(part), 0);
  return shown - shownUnits(parts.reduce((sum, part) => sum + part, 0));
}
