import { locale } from './locale';
import { formatUsd, UNITS_PER_USD } from './money';

const compact = new Intl.NumberFormat(locale, { notation: 'compact', maximumFractionDigits: 1 });
const compactUsd = new Intl.NumberFormat(locale, {
  style: 'currency',
  currency: 'USD',
  notation: 'compact',
  maximumFractionDigits: 1,
});

const LARGE_USD = 1000;

/** "52.3K", where the exact number stands elsewhere. */
export function formatCompact(value: number): string {
  return compact.format(value);
}

/** "$12.42", "$1.2K": short enough to stand on a bar of a chart. */
export function formatUsdCompact(units: number): string {
  const usd = units / UNITS_PER_USD;
  return usd < LARGE_USD ? formatUsd(units) : compactUsd.format(usd);
}
