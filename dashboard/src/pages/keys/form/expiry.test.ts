import { describe, expect, it } from 'vitest';
import { dateTimeInput, type ExpiryChoice, expiredTime, expiryOf, parseDateTime } from './expiry';

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

describe('datetime inputs', () => {
  it('round-trip to the minute', () => {
    expect(parseDateTime(dateTimeInput(NOW + 59))).toBe(NOW);
    expect(dateTimeInput(NOW)).toMatch(/^2027-01-1\dT\d\d:\d\d$/);
  });

  it.each([253_402_300_800, 9_999_999_999_999, 2 ** 63, -(2 ** 63)])('are empty for %d', (time) => {
    expect(dateTimeInput(time)).toBe('');
  });

  it('can be empty', () => {
    expect(dateTimeInput(undefined)).toBe('');
    expect(parseDateTime('')).toBeUndefined();
  });
});
