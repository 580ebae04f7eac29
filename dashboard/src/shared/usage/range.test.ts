import { describe, expect, it } from 'vitest';
import { namedRange, plusDays, rangeProblem, readRange, todayIn, withRange } from './range';

const named = (choice: Parameters<typeof namedRange>[0], today: string, weekStarts = 'monday') =>
  namedRange(choice, today, weekStarts);

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
    expect(named('today', '2026-03-01')).toEqual({ start: '2026-03-01', end: '2026-03-01' });
    expect(named('yesterday', '2026-03-01')).toEqual({ start: '2026-02-28', end: '2026-02-28' });
    expect(named('7d', '2026-03-01')).toEqual({ start: '2026-02-23', end: '2026-03-01' });
    expect(named('90d', '2026-03-31')).toEqual({ start: '2026-01-01', end: '2026-03-31' });
    expect(named('month', '2026-03-31')).toEqual({ start: '2026-03-01', end: '2026-03-31' });
    expect(named('last_month', '2026-03-31')).toEqual({ start: '2026-02-01', end: '2026-02-28' });
  });

  it.each([
    // A Sunday, a Monday and a Saturday.
    ['2026-03-01', 'monday', '2026-02-23', '2026-02-16', '2026-02-22'],
    ['2026-03-01', 'sunday', '2026-03-01', '2026-02-22', '2026-02-28'],
    ['2026-03-02', 'monday', '2026-03-02', '2026-02-23', '2026-03-01'],
    ['2026-03-02', 'sunday', '2026-03-01', '2026-02-22', '2026-02-28'],
    ['2026-03-07', 'saturday', '2026-03-07', '2026-02-28', '2026-03-06'],
    ['2028-03-01', 'monday', '2028-02-28', '2028-02-21', '2028-02-27'],
    ['2027-01-02', 'sunday', '2026-12-27', '2026-12-20', '2026-12-26'],
  ])('on %s, weeks that start on %s: this one from %s, the last one from %s to %s', (...days) => {
    const [today, starts, first, start, end] = days;
    expect(named('week', today, starts)).toEqual({ start: first, end: today });
    expect(named('last_week', today, starts)).toEqual({ start, end });
  });

  it.each([
    ['2026-03-01', '2026-03-01', undefined],
    ['2026-01-01', '2027-01-01', undefined],
    ['2026-01-01', '2027-01-02', 'too_long'],
    ['2026-03-02', '2026-03-01', 'backwards'],
    ['', '2026-03-01', 'incomplete'],
    ['2026', '2026-03-01', 'incomplete'],
    ['-271821-04-20', '-271821-04-20', 'incomplete'],
    ['+275760-09-13', '+275760-09-13', 'incomplete'],
    ['0000-01-01', '0000-01-01', 'incomplete'],
    ['2026-13-01', '2026-13-01', 'incomplete'],
  ])('from %j to %j: %s', (start, end, error) => {
    expect(rangeProblem({ start, end })).toBe(error);
  });

  it.each([
    ['', '7d', '2026-02-23', '2026-03-01'],
    ['range=nonsense', '7d', '2026-02-23', '2026-03-01'],
    ['range=30d', '30d', '2026-01-31', '2026-03-01'],
    ['range=last_week', 'last_week', '2026-02-22', '2026-02-28'],
    ['range=custom&from=2026-01-05&to=2026-01-09', 'custom', '2026-01-05', '2026-01-09'],
    ['range=custom', 'custom', '', ''],
  ])('are read from "%s" and written', (query, choice, start, end) => {
    const range = readRange(new URLSearchParams(query), '2026-03-01', 'sunday');
    expect(range).toEqual({ choice, typed: { start, end } });
    const written = withRange(new URLSearchParams('q=a&from=x'), range);
    expect(readRange(written, '2026-03-01', 'sunday')).toEqual(range);
    expect(written.get('q')).toBe('a');
  });
});
