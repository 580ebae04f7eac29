import { describe, expect, it } from 'vitest';
import { tableGap } from './rounding';

const CENT = 5_000;

describe('the gap of a table', () => {
  it.each([
    ['nothing', [], [], 0],
    ['whole cents', [CENT, 2 * CENT], [], 0],
    ['days', [7_400, 7_400, 7_400], [], CENT],
    ['the parts of a day', [14_800], [[7_400], [7_400]], CENT],
    ['the days of a part', [7_400, 7_400, 7_400], [[7_400, 7_400, 7_400]], CENT],
  ])('of %s', (_, days, series, gap) => {
    expect(tableGap(days, series)).toBe(gap);
  });
});
