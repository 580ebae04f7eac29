// What people type. Apart from the formats, because the first pages have no forms.
import { typedLocales } from './locale';
import { MICROS_PER_UNIT, MICROS_PER_USD, PLACES, usd } from './money';
import { numberReader } from './readNumber';

export type UsdError =
  | 'empty'
  | 'not_an_amount'
  | 'ambiguous'
  | 'too_many_places'
  | 'finer_than_a_unit'
  | 'too_large';
export type ParsedUsd = { units: number } | { error: UsdError };

/**
 * Parses a typed amount such as "12", "0.5" or "$1,000.25" into quota units. Exact: it uses no floating point.
 *
 * Reads what the locale writes. Groups of thousands alone must be two or more, or have cents: "1,500" is ambiguous,
 * because it is one and a half elsewhere, and an amount that is a thousand times larger than meant does harm.
 */
export const parseUsd = usdParser(typedLocales);

/** `parseUsd` of a browser with these languages. */
export function usdParser(locales: readonly string[]): (typed: string) => ParsedUsd {
  const readDigits = numberReader(locales, usd);
  return (typed) => {
    const digits = readDigits(typed);
    if (!digits) return { error: 'not_an_amount' };
    const { whole, places, isAmbiguous } = digits;
    if (whole === '' && !places) return { error: places === undefined ? 'empty' : 'not_an_amount' };
    return isAmbiguous ? { error: 'ambiguous' } : toUnits(whole, places?.replace(/0+$/, '') ?? '');
  };
}

function toUnits(whole: string, places: string): ParsedUsd {
  if (places.length > PLACES) return { error: 'too_many_places' };
  const micros = BigInt(whole) * MICROS_PER_USD + BigInt(places.padEnd(PLACES, '0'));
  if (micros % MICROS_PER_UNIT !== 0n) return { error: 'finer_than_a_unit' };
  const units = micros / MICROS_PER_UNIT;
  return units > BigInt(Number.MAX_SAFE_INTEGER) ? { error: 'too_large' } : { units: Number(units) };
}

const readDigits = numberReader(typedLocales);

/** Reads a whole number such as "1200" or "1,200". `undefined` for other texts, also for "1.0" and an empty one. */
export function parseInteger(typed: string): number | undefined {
  const { whole = '', places } = readDigits(typed) ?? {};
  return places === undefined && /^\d{1,15}$/.test(whole) ? Number(whole) : undefined;
}
