import { describe, expect, it } from 'vitest';
import { formatRelative } from './time';

const NOW = 1_800_000_000;
const DAY = 86_400;

describe('formatRelative', () => {
  it.each([
    [-59, 'just now'],
    [30, 'just now'],
    [59, 'in less than a minute'],
    [-60, '1 minute ago'],
    [-5 * 60, '5 minutes ago'],
    [3 * 3600 + 10, 'in 3 hours'],
    [DAY, 'tomorrow'],
    [-DAY, 'yesterday'],
    [3 * DAY, 'in 3 days'],
    [2 * DAY + 22 * 3600, 'in 3 days'],
    [-(2 * DAY + 22 * 3600), '3 days ago'],
    [2 * DAY + 11 * 3600, 'in 2 days'],
    [59.5 * 60, 'in 1 hour'],
    [23.5 * 3600, 'tomorrow'],
    [6.5 * DAY, 'next week'],
    [15 * DAY, 'in 2 weeks'],
    [-400 * DAY, 'last year'],
  ])('%d seconds from now', (distance, words) => {
    expect(formatRelative(NOW + distance, NOW)).toBe(words);
  });
});
