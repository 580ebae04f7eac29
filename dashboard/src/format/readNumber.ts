/** The digits of a typed number. */
export interface Digits {
  /** Empty for ".5". */
  whole: string;
  /** The digits after the decimal separator. Absent without one. */
  places: string | undefined;
  /** For one of the locales, the only separator groups thousands, and elsewhere it is the decimal separator: "1,500". */
  isAmbiguous: boolean;
}

type ReadDigits = (typed: string) => Digits | undefined;

const MAX_CHARACTERS = 64;

/**
 * Reads a number as the first of these locales that writes it so. `undefined` if none does. All locales read the same
 * number from a text, or it is ambiguous for one of them.
 */
export function numberReader(locales: readonly string[], options: Intl.NumberFormatOptions = {}): ReadDigits {
  const readers = new Map<string, ReadDigits>();
  return (typed) => {
    if (typed.length > MAX_CHARACTERS) return undefined;
    const readings = locales.map((locale) => {
      const read = readers.get(locale) ?? readerOf(locale, options);
      readers.set(locale, read);
      return read(typed);
    });
    const first = readings.find(Boolean);
    return first && { ...first, isAmbiguous: readings.some((reading) => reading?.isAmbiguous) };
  };
}

/** Takes the separators, digits and groups of a locale from its formatter, so that what is shown can be read. */
function readerOf(locale: string, options: Intl.NumberFormatOptions): ReadDigits {
  const numerals = [...new Intl.NumberFormat(locale, { useGrouping: false }).format(9_876_543_210)].reverse();
  const formatter = new Intl.NumberFormat(locale, { ...options, useGrouping: 'always' });
  const partsOf = (value: number | bigint, ...types: Intl.NumberFormatPartTypes[]) => {
    const parts = formatter.formatToParts(value).filter(({ type }) => types.includes(type));
    return toAscii(parts.map((part) => part.value).join(''), numerals);
  };
  const currency = partsOf(0, 'currency');
  const decimal = partsOf(0.5, 'decimal');
  const group = partsOf(1000, 'group');

  return (typed) => {
    const text = withoutSymbol(toAscii(typed, numerals).trim(), currency);
    const [whole = '', places, ...more] = text.split(decimal);
    const groups = group && whole.includes(group) ? whole.split(group) : [whole];
    const digits = groups.join('');
    if (more.length > 0 || !/^\d*$/.test(digits) || !/^\d*$/.test(places ?? '')) return undefined;
    // "0,500" and "1,50" are no groups.
    if (groups.length > 1 && partsOf(BigInt(digits), 'integer', 'group') !== whole) return undefined;
    const isAmbiguous = groups.length === 2 && places === undefined && /[.,]/.test(group);
    return { whole: digits, places, isAmbiguous };
  };
}

/** ASCII for digits of the locale and full-width characters; one form of spaces and apostrophes; no direction marks. */
function toAscii(text: string, numerals: string[]): string {
  return [...text.replace(/[\u061c\u200e\u200f]/g, '')]
    .map((character) => {
      const digit = numerals.indexOf(character);
      if (digit >= 0) return String(digit);
      if (/[\u00a0\u2009\u202f]/.test(character)) return ' ';
      if (character === '’') return "'";
      return /[０-９．，＄]/.test(character)
        ? String.fromCharCode(character.charCodeAt(0) - FULL_WIDTH)
        : character;
    })
    .join('');
}

const FULL_WIDTH = '０'.charCodeAt(0) - '0'.charCodeAt(0);

/** An amount without its "$", which languages write before or after it. */
function withoutSymbol(text: string, currency: string): string {
  const symbol = [currency, '$'].find((each) => each && (text.startsWith(each) || text.endsWith(each)));
  if (!currency || !symbol) return text;
  return (text.startsWith(symbol) ? text.slice(symbol.length) : text.slice(0, -symbol.length)).trim();
}
