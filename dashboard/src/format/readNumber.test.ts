import { describe, expect, it } from 'vitest';
import { formatUsdExact, UNITS_PER_USD, usd, usdInput } from './money';
import { numberReader } from './readNumber';
import { type ParsedUsd, usdParser } from './typed';

/** Locales of all kinds: which separators, which groups, which digits, and where the "$" is. */
const LOCALES = [
  ...['en', 'en-AT', 'en-CA', 'en-CH', 'en-DE', 'en-DK', 'en-GB', 'en-IN', 'en-SE', 'en-ZA', 'en-150'],
  ...['zh', 'zh-CN', 'zh-Hans-SG', 'zh-u-nu-fullwide', 'zh-u-nu-hanidec', 'ja', 'ko', 'th', 'vi', 'id'],
  ...['de', 'de-AT', 'de-CH', 'fr', 'fr-CA', 'fr-CH', 'it', 'it-CH', 'nl', 'sv', 'nb', 'da', 'fi', 'is'],
  ...['es', 'es-AR', 'es-CO', 'es-MX', 'es-UY', 'pt-BR', 'pt-PT', 'ca', 'gl', 'eu', 'ro', 'el', 'tr'],
  ...['pl', 'cs', 'sk', 'hu', 'ru', 'uk', 'bg', 'hr', 'sr', 'sl', 'lt', 'lv', 'et', 'ka', 'hy', 'kk', 'rm'],
  ...['hi', 'hi-u-nu-deva', 'bn', 'mr', 'ta', 'ne', 'my', 'km', 'lo', 'dz', 'sw', 'af', 'gsw', 'mt'],
  ...['ar', 'ar-AE', 'ar-EG', 'ar-MA', 'fa', 'fa-AF', 'ps', 'ckb', 'he', 'ur'],
];

const parse = (locale: string, typed: string) => usdParser([locale])(typed);
const dollars = (amount: number): ParsedUsd => ({ units: amount * UNITS_PER_USD });

describe('amounts', () => {
  it.each([
    ['de', '0,500', 0.5],
    ['de', '1,5', 1.5],
    ['de', '1.234,56', 1234.56],
    ['de', '1.234.567', 1_234_567],
    ['de', '1234,56 $', 1234.56],
    ['fr', '0,500', 0.5],
    ['fr', '1 234,56', 1234.56],
    ['fr', '1\u202f500', 1500],
    ['fr-CH', '1 234.56', 1234.56],
    ['pt-BR', '$ 1.234,56', 1234.56],
    ['de-CH', '1’500', 1500],
    ['de-CH', "1'234'567.50", 1_234_567.5],
    ['en-ZA', '0,500', 0.5],
    ['en-IN', '1,50,000', 150_000],
    ['ar-EG', '١٬٢٣٤٫٥', 1234.5],
    ['fa', '۰٫۵', 0.5],
    ['fa', '12', 12],
    ['zh', '１，２３４．５０', 1234.5],
  ])('of %s: %s is read', (locale, typed, amount) => {
    expect(parse(locale, typed)).toEqual(dollars(amount));
  });

  it.each([
    ['de', '1.500', 'ambiguous'],
    ['de', '0.500', 'not_an_amount'],
    ['de', '1,234.56', 'not_an_amount'],
    ['de', '1.5', 'not_an_amount'],
    ['pt-BR', '100.000', 'ambiguous'],
    ['en', '1,500', 'ambiguous'],
    ['en-IN', '1,500', 'ambiguous'],
    ['en', '0,500', 'not_an_amount'],
    ['en', '1.234,56', 'not_an_amount'],
    ['en', '1.234.567', 'not_an_amount'],
    ['en', '1’500', 'not_an_amount'],
    ['en', '1 500', 'not_an_amount'],
    ['de-CH', '1,500', 'not_an_amount'],
    ['de-CH', "1'50", 'not_an_amount'],
    ['fr', '1 50', 'not_an_amount'],
    ['zh', '１，５００', 'ambiguous'],
    ['ar-EG', '۱۲', 'not_an_amount'],
    ['en', '9'.repeat(1_000_000), 'not_an_amount'],
  ])('of %s: %s is refused', (locale, typed, error) => {
    expect(parse(locale, typed)).toEqual({ error });
  });

  it.each([
    ['0,500', 0.5],
    ['1,5', 1.5],
    ['1.234,56', 1234.56],
    ['1,234.56', 1234.56],
    ['1.5', 1.5],
    ['0.500', 0.5],
    ['$1.1250', 1.125],
  ])('in an English dashboard of a German browser: %s is read', (typed, amount) => {
    expect(usdParser(['en', 'de-DE', 'de'])(typed)).toEqual(dollars(amount));
  });

  it.each(['1,500', '1.500', '$1.125'])(
    'in an English dashboard of a German browser: %s is refused',
    (typed) => {
      expect(usdParser(['en', 'de-DE', 'de'])(typed)).toEqual({ error: 'ambiguous' });
    },
  );

  it.each(LOCALES)('of %s are read as they are shown', (locale) => {
    for (const places of [2, 4, 6]) {
      const shown = new Intl.NumberFormat(locale, { ...usd, maximumFractionDigits: places });
      // Two millionths of a dollar are a unit.
      const least = Math.max(2, 10 ** (6 - places));
      for (let power = 1; power <= 1e12; power *= 10)
        for (const digits of [0, 1, 5, 9, 12, 99, 100, 123, 125, 500, 999, 1000, 1234, 1500]) {
          const micros = digits * power - ((digits * power) % least);
          const text = `${Math.floor(micros / 1e6)}.${String(micros % 1e6).padStart(6, '0')}`;
          const typed = shown.format(text as Intl.StringNumericLiteral);
          expect(parse(locale, typed), `${text} is ${typed}`).toEqual({ units: micros / 2 });
        }
    }
  });

  it.each(LOCALES)('of the English dashboard are read in a browser with %s, too', (locale) => {
    const parse = usdParser(['en', locale]);
    for (let power = 1; power <= 1e12; power *= 10)
      for (const digits of [1, 9, 12, 123, 562.5, 999, 1125, 1234]) {
        const units = Math.floor(digits * power);
        for (const format of [usdInput, formatUsdExact]) expect(parse(format(units))).toEqual({ units });
      }
  });

  it('are the same for all locales, or refused', () => {
    // One of each kind, because there are many texts.
    const kinds = new Map(LOCALES.map((locale) => [writtenIn(locale), locale]));
    const parsers = [...kinds.values()].map((locale) => usdParser([locale]));
    for (const text of texts(5)) {
      const read = new Set<number>();
      for (const parse of parsers) {
        const parsed = parse(text);
        if ('units' in parsed) read.add(parsed.units);
      }
      expect(read.size, `${text} is ${[...read].join(' or ')}`).toBeLessThanOrEqual(1);
    }
  });
});

describe('whole numbers', () => {
  const read = (locale: string, typed: string) => numberReader([locale])(typed);

  it.each(LOCALES)('of %s are read as they are shown', (locale) => {
    const shown = new Intl.NumberFormat(locale);
    for (const number of [0, 7, 60, 999, 1000, 1500, 10_000, 123_456, 1_000_000, 9_007_199_254_740_991]) {
      const digits = read(locale, shown.format(number));
      expect([digits?.whole, digits?.places]).toEqual([String(number), undefined]);
    }
  });
});

/** An amount without its "$". */
function writtenIn(locale: string): string {
  return new Intl.NumberFormat(locale, usd)
    .formatToParts(12_345_678.9)
    .map(({ type, value }) => (type === 'currency' || type === 'literal' ? '' : value))
    .join('');
}

/** All texts of up to so many of these parts. */
function texts(parts: number): string[] {
  const all = [''];
  let longest = all;
  for (let count = 0; count < parts; count++) {
    longest = longest.flatMap((text) => ['0', '12', '500', '.', ',', ' ', '’'].map((part) => text + part));
    all.push(...longest);
  }
  return all;
}
