import { describe, expect, it } from 'vitest';
import type { Price, Rate } from '../../api/prices';
import { columnOf, inOrder, isAsInput, otherRates, ratesIn } from './rates';

const rate = (unit: string, usd = '1', per = 1_000_000): Rate => ({ unit, usd, per, key: unit, tiers: [] });

const rates = [
  rate('cache_write_1h_tokens', '10'),
  rate('cache_write_tokens', '6'),
  rate('input_tokens', '5'),
  rate('web_searches', '10', 1000),
  rate('output_tokens', '3', 1000),
];

describe('the rates of a price', () => {
  it('are in columns, that of the column itself first', () => {
    expect(ratesIn(rates, 'cacheWrite').map(({ usd }) => usd)).toEqual(['6', '10']);
    expect(ratesIn(rates, 'input').map(({ usd }) => usd)).toEqual(['5']);
    expect(rates.map(columnOf)).toEqual(['cacheWrite', 'cacheWrite', 'input', undefined, undefined]);
  });

  it('are others if they have no column, or are for other numbers', () => {
    expect(otherRates(rates).map(({ unit }) => unit)).toEqual(['web_searches', 'output_tokens']);
  });

  it('are in the order of the columns', () => {
    expect(inOrder(rates).map(({ usd }) => usd)).toEqual(['5', '6', '10', '10', '3']);
  });

  it('are those of the input for parts of it without a rate', () => {
    const price: Price = { model: 'o3', own: true, provider: null, rates, variants: [] };
    expect(isAsInput(price, 'cached')).toBe(true);
    expect(isAsInput(price, 'cacheWrite')).toBe(false);
    expect(isAsInput(price, 'output')).toBe(false);
    expect(isAsInput({ ...price, rates: [] }, 'cached')).toBe(false);
  });
});
