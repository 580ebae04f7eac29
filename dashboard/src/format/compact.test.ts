import { afterEach, describe, expect, it, vi } from 'vitest';
import { barFormat, formatCompact } from './compact';

afterEach(() => vi.unstubAllGlobals());

describe('the labels of bars', () => {
  it.each([
    [[6_211_364, 5_000, 1], false, ['$12.42', '$0.01', '<1¢']],
    [[2_100, 1], false, ['$0.0042', '$0.000002']],
    [[2_100, 1], true, ['<1¢', '<1¢']],
    [[617_460_000, 2_065_000, 1], false, ['$1.2K', '$4', '<$1']],
    [[499_999_999, 499_999_999], false, ['$1.0K', '$1.0K']],
    [[499_994_999, 210_000], false, ['$999.99', '$0.42']],
    [[5_500_000, 2_065_000], true, ['$11', '$4']],
    [[2_065_000, 210_000], true, ['$4.13', '$0.42']],
  ])('of %j units have one precision', (units, isNarrow, labels) => {
    expect(units.map(barFormat(Math.max(...units), isNarrow))).toEqual(labels);
  });
});

describe('compact counts', () => {
  it.each([
    [999, '999'],
    [75_473, '75.5K'],
    [5_000_000, '5.0M'],
    [28_900_000, '28.9M'],
  ])('%d is %s', (value, text) => {
    expect(formatCompact(value)).toBe(text);
  });

  it('are grouped in Chinese, which shortens from 10,000', async () => {
    vi.resetModules();
    vi.stubGlobal('navigator', { languages: ['zh-CN'] });
    const { barFormat, formatCompact, formatUsdTick } = await import('./compact');
    const thousand = 500_000_000;
    expect(formatCompact(8_000)).toBe('8,000');
    expect(formatCompact(52_000)).toBe('5.2万');
    expect(barFormat(8 * thousand, false)(8 * thousand)).toBe('$8,000');
    expect(formatUsdTick(8 * thousand, 2 * thousand, 8 * thousand)).toBe('$8,000');
  });
});
