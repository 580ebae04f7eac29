import { afterEach, describe, expect, it, vi } from 'vitest';
import { formatUsd, formatUsdExact, roundingGap, usdInput } from './money';
import { parseUsd } from './typed';

afterEach(() => vi.unstubAllGlobals());

describe('usdInput', () => {
  it.each([0, 1, 499_999, 500_000, 750_000, 499_999_999_999_999])('round-trips %d units', (units) => {
    expect(parseUsd(usdInput(units))).toEqual({ units });
  });

  it.each([
    [['en-AT'], '1,5', '$ 1.234,50'],
    [['en-ZA', 'en-US'], '1,5', '$1 234,50'],
    [['de-DE', 'en-US'], '1.5', '$1,234.50'],
  ])('is read again in a browser with the languages %j', async (languages, input, shown) => {
    vi.resetModules();
    vi.stubGlobal('navigator', { languages });
    const money = await import('./money');
    const { parseUsd } = await import('./typed');
    expect(money.usdInput(750_000)).toBe(input);
    expect(money.formatUsdExact(617_250_000).replaceAll('\u00a0', ' ')).toBe(shown);
    for (const units of [1, 499_999, 562_500, 750_000, 617_250_000, 499_999_999_999_999])
      for (const format of [money.usdInput, money.formatUsdExact])
        expect(parseUsd(format(units))).toEqual({ units });
  });

  it('formats negative amounts', () => {
    expect(usdInput(-750_000)).toBe('-1.5');
  });
});

describe('formatUsd', () => {
  it.each([
    [0, '$0.00'],
    [1, '$0.000002'],
    [2_100, '$0.0042'],
    [4_999, '$0.009998'],
    [-1, '-$0.000002'],
    [5_000, '$0.01'],
    [7_499, '$0.01'],
    [7_500, '$0.02'],
    [749_999, '$1.50'],
    [-749_999, '-$1.50'],
    [500_000_000, '$1,000.00'],
  ])('%d units', (units, words) => {
    expect(formatUsd(units)).toBe(words);
  });

  it('never has exactly three decimals after a few digits, which are thousands elsewhere', () => {
    expect([formatUsdExact(562_500), usdInput(562_500)]).toEqual(['$1.1250', '1.1250']);
    expect([formatUsdExact(62_500), formatUsdExact(617_062_500)]).toEqual(['$0.125', '$1,234.125']);
    expect(formatUsd(562_500)).toBe('$1.13');
  });

  it('has an exact variant', () => {
    expect(formatUsdExact(499_999_999_999_999)).toBe('$999,999,999.999998');
  });
});

describe('roundingGap', () => {
  it.each([
    [[500_000, 750_000], 0],
    [[7_400, 7_400, 7_400], -5_000],
    [[7_600, 7_600], 5_000],
    [[1, 2, 3], 0],
    [[], 0],
  ])('of %j is %d units', (parts, gap) => {
    expect(roundingGap(parts)).toBe(gap);
  });
});
