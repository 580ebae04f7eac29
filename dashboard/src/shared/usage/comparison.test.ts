import { describe, expect, it } from 'vitest';
import { type ComparisonChoice, comparedDays, readComparison, withComparison } from './comparison';
import { namedRange, type RangeChoice } from './range';

/** With which days a range with a name is compared. */
function compared(named: Exclude<RangeChoice, 'custom'>, today: string, choice: ComparisonChoice = 'before') {
  const state = { choice, typed: { start: '', end: '' } };
  return Object.values(comparedDays(state, namedRange(named, today, 'monday'), named, today) ?? {});
}

/** With which days a typed range is compared. */
function comparedTyped(start: string, end: string, today: string, choice: ComparisonChoice = 'before') {
  const state = { choice, typed: { start: '', end: '' } };
  return Object.values(comparedDays(state, { start, end }, 'custom', today) ?? {});
}

describe('the days before', () => {
  it.each([
    // A Wednesday: Monday to Wednesday against Monday to Wednesday.
    ['week', '2026-11-25', '2026-11-16', '2026-11-18'],
    ['last_week', '2026-11-25', '2026-11-09', '2026-11-15'],
    // Weeks in which clocks change, in Europe and in America.
    ['week', '2026-03-29', '2026-03-16', '2026-03-22'],
    ['last_week', '2026-11-02', '2026-10-19', '2026-10-25'],
    ['month', '2026-11-28', '2026-10-01', '2026-10-28'],
    ['month', '2026-01-10', '2025-12-01', '2025-12-10'],
  ] as const)('of the range %s on %s are the same days from %s to %s', (named, today, start, end) => {
    expect(compared(named, today)).toEqual([start, end]);
  });

  it('of a month that runs end with the month before, if that is shorter', () => {
    expect(compared('month', '2026-03-31')).toEqual(['2026-02-01', '2026-02-28']);
    expect(compared('month', '2026-03-29')).toEqual(['2026-02-01', '2026-02-28']);
    expect(compared('month', '2028-03-29')).toEqual(['2028-02-01', '2028-02-29']);
    expect(compared('month', '2028-02-29')).toEqual(['2028-01-01', '2028-01-29']);
    expect(compared('month', '2026-02-28')).toEqual(['2026-01-01', '2026-01-28']);
  });

  it('of a month that is over are the whole month before, whatever its length', () => {
    expect(compared('last_month', '2026-03-05')).toEqual(['2026-01-01', '2026-01-31']);
    expect(compared('last_month', '2028-04-01')).toEqual(['2028-02-01', '2028-02-29']);
    expect(compared('last_month', '2026-02-01')).toEqual(['2025-12-01', '2025-12-31']);
    expect(comparedTyped('2026-02-01', '2026-02-28', '2026-03-01')).toEqual(['2026-01-01', '2026-01-31']);
    // Until it is over, it may be any range.
    expect(comparedTyped('2026-02-01', '2026-02-28', '2026-02-28')).toEqual(['2026-01-04', '2026-01-31']);
  });

  it('of a quarter that is over are the quarter before', () => {
    expect(comparedTyped('2028-04-01', '2028-06-30', '2028-07-01')).toEqual(['2028-01-01', '2028-03-31']);
  });

  it('of other ranges are as many', () => {
    expect(compared('today', '2026-03-01')).toEqual(['2026-02-28', '2026-02-28']);
    expect(compared('7d', '2026-11-14')).toEqual(['2026-11-01', '2026-11-07']);
    expect(compared('30d', '2028-03-15')).toEqual(['2028-01-16', '2028-02-14']);
    expect(comparedTyped('2026-01-05', '2026-01-09', '2026-11-14')).toEqual(['2025-12-31', '2026-01-04']);
  });
});

describe('a comparison', () => {
  it('with a year before has the same days, in leap years too', () => {
    expect(compared('7d', '2026-11-14', 'year')).toEqual(['2025-11-08', '2025-11-14']);
    expect(compared('today', '2028-02-29', 'year')).toEqual(['2027-02-28', '2027-02-28']);
    expect(compared('last_month', '2028-03-10', 'year')).toEqual(['2027-02-01', '2027-02-28']);
    expect(compared('last_month', '2029-03-10', 'year')).toEqual(['2028-02-01', '2028-02-29']);
  });

  it('is none if nobody wants one, or if its dates are no range', () => {
    expect(compared('7d', '2026-11-14', 'none')).toEqual([]);
    expect(compared('7d', '2026-11-14', 'custom')).toEqual([]);
    expect(comparedTyped('0001-01-01', '0001-01-02', '2026-11-14', 'year')).toEqual([]);
  });

  it.each([
    ['', 'before', '', ''],
    ['compare=nonsense', 'before', '', ''],
    ['compare=year', 'year', '', ''],
    ['compare=custom&compare_from=2026-01-05&compare_to=2026-01-09', 'custom', '2026-01-05', '2026-01-09'],
  ])('is read from "%s" and written', (query, choice, start, end) => {
    const state = readComparison(new URLSearchParams(query));
    expect(state).toEqual({ choice, typed: { start, end } });
    const written = withComparison(new URLSearchParams('range=30d&compare_from=x'), state);
    expect(readComparison(written)).toEqual(state);
    expect(written.get('range')).toBe('30d');
  });
});
