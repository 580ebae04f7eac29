import { describe, expect, it } from 'vitest';
import { formatCompact, formatUsdCompact, formatUsdShort } from './compact';

describe('compact numbers', () => {
  it.each([
    [0, '$0.00'],
    [1, '<$0.01'],
    [5_000, '$0.01'],
    [6_211_364, '$12.42'],
    [499_994_999, '$999.99'],
    [499_999_999, '$1K'],
    [500_000_000, '$1K'],
    [617_460_000, '$1.2K'],
  ])('%d units are %s', (units, short) => {
    expect(formatUsdCompact(units)).toBe(short);
  });

  it.each([
    [0, '$0.00'],
    [1, '<1¢'],
    [4_998_000, '$10'],
    [210_000, '$0.42'],
    [6_211_364, '$12'],
    [499_999_999, '$1K'],
    [617_460_000, '$1.2K'],
  ])('%d units are %s on narrow bars', (units, short) => {
    expect(formatUsdShort(units)).toBe(short);
  });

  it('formats counts', () => {
    expect(formatCompact(999)).toBe('999');
    expect(formatCompact(75_473)).toBe('75.5K');
  });
});
