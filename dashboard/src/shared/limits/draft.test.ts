import { describe, expect, it } from 'vitest';
import { texts } from '../../texts';
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
  reachedFirst,
} from './draft';

const { errors } = texts.limits;
const { usdErrors } = texts.common;

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
    ['five', usdErrors.not_an_amount],
    ['-1', usdErrors.not_an_amount],
    ['0,500', usdErrors.not_an_amount],
    ['1,500', usdErrors.ambiguous],
    ['0.000001', usdErrors.finer_than_a_unit],
    ['1000000000.01', errors.large('$1,000,000,000.00')],
  ])('of "%s" dollars: %s', (typed, error) => {
    expect(periodError(typed)).toBe(error);
  });

  it.each([
    ['', undefined],
    ['0', undefined],
    ['1,000,000,000', undefined],
    ['1000000001', errors.large('1,000,000,000')],
    ['-1', errors.notANumber],
    ['1.5', errors.notANumber],
    ['1.500', errors.notANumber],
    ['1,5', errors.notANumber],
    ['0,500', errors.notANumber],
    [',', errors.notANumber],
  ])('of the rate "%s": %s', (typed, error) => {
    expect(rateError(typed)).toBe(error);
  });
});

describe('a limit that is reached before that of a shorter period', () => {
  it.each([
    [['50', '10', ''], ['week']],
    [['50', '', '10'], ['month']],
    [
      ['50', '20', '10'],
      ['week', 'month'],
    ],
    [['5', '20', '50'], []],
    [['5', '5', ''], []],
    [['5', '0', ''], []],
    [['', '10', ''], []],
    [['much', '10', ''], []],
  ])('of %j is that of %j', ([day = '', week = '', month = ''], found) => {
    expect(reachedFirst({ day, week, month })).toEqual(found);
  });
});
