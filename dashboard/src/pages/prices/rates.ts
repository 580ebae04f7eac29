import type { Price, Rate } from '../../api/prices';

const MILLION = 1_000_000;

/** The units of the columns with rates for a million tokens. The first one is that of the column. */
export const RATE_COLUMNS = {
  input: ['input_tokens'],
  output: ['output_tokens'],
  cached: ['cache_read_tokens'],
  cacheWrite: ['cache_write_tokens', 'cache_write_5m_tokens', 'cache_write_1h_tokens'],
} as const;

export type RateColumn = keyof typeof RATE_COLUMNS;

/** The rates of a column, that of the column itself first. */
export function ratesIn(rates: Rate[], column: RateColumn): Rate[] {
  return RATE_COLUMNS[column].flatMap((unit) =>
    rates.filter((rate) => rate.unit === unit && isPerMillion(rate)),
  );
}

/** The rates that have no column. */
export function otherRates(rates: Rate[]): Rate[] {
  return rates.filter((rate) => !columnOf(rate));
}

/** The column of which a rate is the first one. */
export function columnOf(rate: Rate): RateColumn | undefined {
  const columns = Object.entries(RATE_COLUMNS) as [RateColumn, readonly string[]][];
  return isPerMillion(rate) ? columns.find(([, units]) => units.includes(rate.unit))?.[0] : undefined;
}

/** Rates in the order of the columns, then the others. */
export function inOrder(rates: Rate[]): Rate[] {
  const columns = Object.keys(RATE_COLUMNS) as RateColumn[];
  return [...columns.flatMap((column) => ratesIn(rates, column)), ...otherRates(rates)];
}

/** A part of the input has no rate of its own, so it costs as much as other input. */
export function isAsInput({ rates }: Price, column: RateColumn): boolean {
  const isPart = column === 'cached' || column === 'cacheWrite';
  return isPart && ratesIn(rates, column).length === 0 && ratesIn(rates, 'input').length > 0;
}

const isPerMillion = ({ per }: Rate) => per === MILLION;
