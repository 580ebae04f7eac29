import { describe, expect, it } from 'vitest';
import { formatDuration, formatRelative } from './time';

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
    [DAY + HOUR - 1, '1 d'],
    [2 * DAY - 1, '1 d 23 h'],
    [7 * DAY + 21 * HOUR, '7 d 21 h'],
    [10 * DAY - 1, '9 d 23 h'],
    [10 * DAY + 5 * HOUR, '10 d'],
    [60 * DAY - 1, '59 d'],
    [60 * DAY, '2 months'],
    [365 * DAY - 1, '12 months'],
    [365 * DAY, '1 year'],
    [800 * DAY, '2 years'],
  ])('rounds %d seconds down', (seconds, words) => {
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
