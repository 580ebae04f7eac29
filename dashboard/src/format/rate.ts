import { locale } from './locale';
import { usd } from './money';

/** Decimals of a rate in the API. */
const PLACES = 18;

const dollars = new Intl.NumberFormat(locale, { ...usd, maximumFractionDigits: PLACES });
const factor = new Intl.NumberFormat(locale, { maximumFractionDigits: PLACES });

/** Dollars from decimal text: "0.125" → "$0.125", "5" → "$5.00". Exact: it uses no floating point. */
export function formatRate(text: string): string {
  return dollars.format(text as Intl.StringNumericLiteral);
}

/** A count from decimal text: "1200" → "1,200". Exact. */
export function formatCount(text: string): string {
  return factor.format(text as Intl.StringNumericLiteral);
}

/** For example "× 1.5". Of decimal text, exact. */
export function formatRatio(ratio: number | string): string {
  return `× ${factor.format(ratio as Intl.StringNumericLiteral)}`;
}
