import { describe, expect, it } from 'vitest';
import { dateOf, formatDateTime, formatDay, formatDuration, formatMoment, formatRelative } from './time';

const NOW = 1_800_000_000;
const HOUR = 3600;
const DAY = 24 * HOUR;

describe('formatDuration', () => {
  it.each([
    [0, 'less than 1 min'],
    [59, 'less than 1 min'],
    [60, '1 min'],
    [HOUR - 1, '59 min'],
    [HOUR, '1 h'],
    [HOUR + 60, '1 h 1 min'],
    [DAY - 1, '23 h 59 min'],
    [DAY, '1 d'],
    [DAY + HOUR / 2 - 1, '1 d'],
    [DAY + HOUR - 1, '1 d 1 h'],
    [2 * DAY - 1, '2 d'],
    [7 * DAY + 21 * HOUR, '7 d 21 h'],
    [10 * DAY - HOUR, '9 d 23 h'],
    [10 * DAY - 1, '10 d'],
    [10 * DAY + 5 * HOUR, '10 d'],
    [29 * DAY + 23 * HOUR, '30 d'],
    [60 * DAY - DAY, '59 d'],
    [60 * DAY - 1, '2 months'],
    [364 * DAY, '12 months'],
    [365 * DAY - 1, '1 year'],
    [365 * DAY, '1 year'],
    [800 * DAY, '2 years'],
  ])('of %d seconds is %s', (seconds, words) => {
    expect(formatDuration(seconds)).toBe(words);
  });
});

describe('formatRelative', () => {
  it.each([
    [-59, 'just now'],
    [30, 'just now'],
    [59, 'in less than 1 min'],
    [-60, '1 min ago'],
    [2 * DAY + 22 * HOUR, 'in 2 d 22 h'],
    [-(2 * DAY + 22 * HOUR), '2 d 22 h ago'],
  ])('%d seconds from now', (distance, words) => {
    expect(formatRelative(NOW + distance, NOW)).toBe(words);
  });
});

describe('times of the API', () => {
  const AFTER = 'after the year 9999';
  const BEFORE = 'before the year 1';

  it.each([
    [253_402_300_800, `253402300800 (${AFTER})`, AFTER],
    [1_795_000_000_000, `1795000000000 (${AFTER})`, AFTER],
    [8.64e12 + 1, `8640000000001 (${AFTER})`, AFTER],
    [9_999_999_999_999, `9999999999999 (${AFTER})`, AFTER],
    [2 ** 63, AFTER, AFTER],
    [-62_135_596_801, `-62135596801 (${BEFORE})`, BEFORE],
    [-8.64e12 - 1, `-8640000000001 (${BEFORE})`, BEFORE],
    [-(2 ** 63), BEFORE, BEFORE],
  ])('outside of the calendar are texts: %d', (seconds, text, relative) => {
    for (const format of [formatDateTime, formatMoment, formatDay]) expect(format(seconds)).toBe(text);
    expect(formatRelative(seconds, NOW)).toBe(relative);
    expect(dateOf(seconds)).toBeUndefined();
  });

  it.each([-62_135_596_800, -1_000_000_000, -1, 0, 1, NOW, 253_402_214_400])('are dates: %d', (seconds) => {
    expect(formatDateTime(seconds)).toMatch(/\d, \d+, |^\w{3} \d/);
    expect(dateOf(seconds)?.toISOString()).toMatch(/^\d{4}-/);
  });

  it('have durations of any length', () => {
    for (const seconds of [2 ** 63, 2 ** 62, 1e12]) expect(formatDuration(seconds)).toMatch(/ years$/);
  });
});
