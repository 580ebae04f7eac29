import { describe, expect, it } from 'vitest';
import {
  changedLimits,
  emptyPeriods,
  emptyRates,
  periodDraftOf,
  periodError,
  periodLimitsOf,
  rateDraftOf,
  rateError,
  rateLimitsOf,
} from './draft';

const periodLimits = { day: 2_500_000, week: -1, month: 0 };
const rateLimits = { requests_per_minute: 60, tokens_per_minute: -1, concurrency: 0 };

describe('the draft of limits', () => {
  it('shows dollars, and nothing for no limit', () => {
    expect(periodDraftOf(periodLimits)).toEqual({ day: '5', week: '', month: '0' });
    expect(rateDraftOf(rateLimits)).toEqual({
      requests_per_minute: '60',
      tokens_per_minute: '',
      concurrency: '0',
    });
  });

  it('becomes the same limits again', () => {
    expect(periodLimitsOf(periodDraftOf(periodLimits))).toEqual(periodLimits);
    expect(rateLimitsOf(rateDraftOf(rateLimits))).toEqual(rateLimits);
  });

  it('is exact to the quota unit', () => {
    const { day, month } = periodLimitsOf({ day: '$0.000002', week: '', month: '1,000,000,000' });
    expect([day, month]).toEqual([1, 500_000_000_000_000]);
  });

  it('accepts thousands separators in rates', () => {
    expect(rateLimitsOf({ ...emptyRates, tokens_per_minute: ' 100,000 ' }).tokens_per_minute).toBe(100_000);
  });

  it('never reads an invalid text as no limit', () => {
    expect(periodLimitsOf({ ...emptyPeriods, day: 'five' }).day).toBeUndefined();
    expect(rateLimitsOf({ ...emptyRates, concurrency: '-1' }).concurrency).toBeUndefined();
  });
});

describe('changedLimits', () => {
  it('contains only members that differ', () => {
    expect(changedLimits({ day: 7, week: -1, month: -1 }, periodLimits)).toEqual({ day: 7, month: -1 });
  });

  it('is absent without changes', () => {
    expect(changedLimits(periodLimits, periodLimits)).toBeUndefined();
    expect(changedLimits({ ...periodLimits, day: undefined }, periodLimits)).toBeUndefined();
  });
});

describe('errors', () => {
  it.each([
    ['', undefined],
    ['0', undefined],
    ['1000000000', undefined],
    ['five', 'Enter an amount like 12.50, with a decimal point.'],
    ['-1', 'Enter an amount like 12.50, with a decimal point.'],
    ['0.000001', 'Enter a multiple of $0.000002.'],
    ['1000000000.01', 'Enter at most $1,000,000,000.00.'],
  ])('of "%s" dollars: %s', (typed, error) => {
    expect(periodError(typed)).toBe(error);
  });

  it.each([
    ['', undefined],
    ['0', undefined],
    ['1,000,000,000', undefined],
    ['1000000001', 'Enter at most 1,000,000,000.'],
    ['-1', 'Enter a whole number, or leave empty for no limit.'],
    ['1.5', 'Enter a whole number, or leave empty for no limit.'],
  ])('of the rate "%s": %s', (typed, error) => {
    expect(rateError(typed)).toBe(error);
  });
});
