import { describe, expect, it } from 'vitest';
import { formatRows, formatUsd, formatUsdExact, parseUsd, roundParts, usdInput } from './money';

describe('parseUsd', () => {
  it.each([
    ['0', 0],
    ['1', 500_000],
    ['$12.50', 6_250_000],
    [' 0.000002 ', 1],
    ['.5', 250_000],
    ['3.', 1_500_000],
    ['1,000', 500_000_000],
    ['0.10', 50_000],
    ['1.0000000000', 500_000],
    ['1000000000', 500_000_000_000_000],
    ['999999999.999998', 499_999_999_999_999],
  ])('reads %s', (typed, units) => {
    expect(parseUsd(typed)).toEqual({ units });
  });

  it.each([
    ['', 'empty'],
    ['$', 'empty'],
    ['.', 'not_an_amount'],
    ['-1', 'not_an_amount'],
    ['1,5', 'not_an_amount'],
    ['1e3', 'not_an_amount'],
    ['ten', 'not_an_amount'],
    ['0.0000001', 'too_many_places'],
    ['0.000001', 'finer_than_a_unit'],
    ['99999999999999', 'too_large'],
  ])('refuses %s', (typed, error) => {
    expect(parseUsd(typed)).toEqual({ error });
  });
});

describe('usdInput', () => {
  it.each([0, 1, 499_999, 500_000, 750_000, 499_999_999_999_999])('round-trips %d units', (units) => {
    expect(parseUsd(usdInput(units))).toEqual({ units });
  });

  it('formats negative amounts', () => {
    expect(usdInput(-750_000)).toBe('-1.5');
  });
});

describe('formatUsd', () => {
  it.each([
    [0, '$0.00'],
    [1, '$0.000002'],
    [4_999, '$0.009998'],
    [5_000, '$0.01'],
    [7_499, '$0.01'],
    [7_500, '$0.02'],
    [749_999, '$1.50'],
    [-749_999, '-$1.50'],
    [500_000_000, '$1,000.00'],
  ])('%d units', (units, words) => {
    expect(formatUsd(units)).toBe(words);
  });

  it('has an exact variant', () => {
    expect(formatUsdExact(499_999_999_999_999)).toBe('$999,999,999.999998');
  });
});

describe('formatRows', () => {
  it.each([
    { units: [9_500, 9_500, 9_500], rows: ['$0.02', '$0.02', '$0.02'], total: '$0.06' },
    { units: [7_400, 7_400, 7_400], rows: ['$0.01', '$0.02', '$0.01'], total: '$0.04' },
    { units: [500_000], rows: ['$1.00'], total: '$1.00' },
    { units: [12_345_678, 0, 1_400], rows: ['$24.6914', '$0.00', '$0.0028'], total: '$24.6942' },
    { units: [750_000, 1], rows: ['$1.50', '$0.000002'], total: '$1.500002' },
    { units: [], rows: [], total: '$0.00' },
  ])('$units', ({ units, rows, total }) => {
    expect(formatRows(units)).toEqual({ rows, total });
  });

  it('shows rows that add up to the total', () => {
    const cents = (usd: string) => Math.round(Number(usd.replace(/[$,]/g, '')) * 100);
    for (let first = 5_000; first < 5_100; first += 7) {
      const { rows, total } = formatRows([first, first * 3 + 1, first * 7 + 2, 0]);
      expect(rows.map(cents).reduce((sum, each) => sum + each, 0)).toBe(cents(total));
    }
  });

  it('rounds the first row like an amount on its own', () => {
    for (let first = 5_000; first < 25_000; first += 111) {
      expect(formatRows([first, 7_400, 7_400]).rows[0]).toBe(formatUsd(first));
    }
  });
});

describe('roundParts', () => {
  it('keeps parts within a cent of their amounts', () => {
    const units = [7_400, 12_345, 5_001, 999_999];
    const { parts, total } = roundParts(units);
    expect(parts.reduce((sum, each) => sum + each, 0)).toBe(total);
    for (const [index, part] of parts.entries())
      expect(Math.abs(part - (units[index] ?? 0))).toBeLessThan(5_000);
  });
});
