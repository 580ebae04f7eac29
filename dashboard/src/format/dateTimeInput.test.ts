import { describe, expect, it } from 'vitest';
import { dateTimeInput, parseDateTime } from './dateTimeInput';

const NOW = 1_800_000_000;

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
