import { describe, expect, it } from 'vitest';
import { type ExpiryChoice, expiredTime, expiryOf } from './expiry';

const NOW = 1_800_000_000;
const DAY = 86_400;

describe('expiredTime', () => {
  it.each<[ExpiryChoice, number]>([
    ['never', -1],
    ['day', NOW + DAY],
    ['week', NOW + 7 * DAY],
    ['month', NOW + 30 * DAY],
    ['quarter', NOW + 90 * DAY],
  ])('%s', (choice, expected) => {
    expect(expiredTime({ choice, at: 5 }, NOW)).toBe(expected);
  });

  it('is the selected time', () => {
    expect(expiredTime({ choice: 'at', at: NOW + 5 }, NOW)).toBe(NOW + 5);
    expect(expiredTime({ choice: 'at', at: undefined }, NOW)).toBeUndefined();
  });

  it.each([-1, NOW + 17, -5, 9_999_999_999_999, 2 ** 63])('round-trips the expiry %d of a token', (time) => {
    expect(expiredTime(expiryOf(time), NOW)).toBe(time);
  });

  it('reads 0 as never, as the API does', () => {
    expect(expiryOf(0).choice).toBe('never');
  });
});
