import { describe, expect, it } from 'vitest';
import { namedRange, plusDays, rangeProblem, todayIn } from './range';

describe('days', () => {
  it.each([
    ['UTC', '2026-03-01'],
    ['Asia/Tokyo', '2026-03-01'],
    ['America/New_York', '2026-02-28'],
  ])('in %s today is %s', (zone, day) => {
    expect(todayIn(zone, new Date('2026-03-01T01:30:00Z'))).toBe(day);
  });

  it('cross months and years', () => {
    expect(plusDays('2026-01-01', -1)).toBe('2025-12-31');
    expect(plusDays('2028-02-28', 1)).toBe('2028-02-29');
  });
});

describe('ranges', () => {
  it('have names', () => {
    expect(namedRange('today', '2026-03-01')).toEqual({ start: '2026-03-01', end: '2026-03-01' });
    expect(namedRange('week', '2026-03-01')).toEqual({ start: '2026-02-23', end: '2026-03-01' });
  });

  it.each([
    ['2026-03-01', '2026-03-01', undefined],
    ['2026-03-01', '2026-03-08', undefined],
    ['2026-03-01', '2026-03-09', 'too_long'],
    ['2026-03-02', '2026-03-01', 'backwards'],
    ['', '2026-03-01', 'incomplete'],
  ])('from %j to %j: %s', (start, end, error) => {
    expect(rangeProblem({ start, end })).toBe(error);
  });
});
