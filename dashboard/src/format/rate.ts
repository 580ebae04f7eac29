import { locale } from './locale';
import { usd } from './money';

/** Decimals of a rate and of a ratio in the API. */
const PLACES = 9;

const dollars = new Intl.NumberFormat(locale, { ...usd, maximumFractionDigits: PLACES });
const factor = new Intl.NumberFormat(locale, { maximumFractionDigits: PLACES });

/** Dollars from decimal text: "0.125" → "$0.125", "5" → "$5.00". Exact: it uses no floating point. */
export function formatRate(text: string): string {
  return dollars.format(text as Intl.StringNumericLiteral);
}

/** For example "× 1.5". */
export function formatRatio(ratio: number): string {
  return `× ${factor.format(ratio)}`;
}
