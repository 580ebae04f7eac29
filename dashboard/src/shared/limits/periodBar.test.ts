import { describe, expect, it } from 'vitest';
import { makePeriodUsage } from '../../test/makeToken';
import { limitedPeriods, periodBarTexts, stoppingPeriod, tightestPeriod } from './periodBar';

const NOW = 1_800_000_000;
const HOUR = 3600;

function usageOf(limit: number, used: number, remaining = limit - used, resets_at = NOW + 3 * HOUR + 60) {
  return { limit, used, remaining, resets_at };
}

describe('periodBarTexts', () => {
  it('says what was used and when it resets', () => {
    expect(periodBarTexts('day', usageOf(2_500_000, 1_600_000), NOW)).toMatchObject({
      percent: 64,
      tone: 'normal',
      used: '$3.20 of $5.00 today',
      resets: 'resets in 3 h 1 min',
      label: '64% of the daily limit used',
    });
    expect(periodBarTexts('week', usageOf(2_500_000, 0), NOW).used).toBe('$0.00 of $5.00 this week');
    expect(periodBarTexts('month', usageOf(2_500_000, 0), NOW).used).toBe('$0.00 of $5.00 this month');
  });

  it('has the quota units in its details', () => {
    const { details } = periodBarTexts('day', usageOf(2_500_000, 1_600_000), NOW);
    expect(details).toMatch(/^1,600,000 of 2,500,000 units\. Resets on .+\.$/);
  });

  it.each([
    ['at 80 %', usageOf(1000, 800), 80, 'normal'],
    ['above 80 %', usageOf(1000, 801), 80, 'warn'],
    ['one unit below the limit', usageOf(1000, 999), 99, 'warn'],
    ['at the limit', usageOf(1000, 1000), 100, 'bad'],
    ['beyond the limit', usageOf(1000, 1500, 0), 100, 'bad'],
    ['all of it reserved', usageOf(1000, 0, 0), 100, 'bad'],
    ['a limit of 0', usageOf(0, 0), 100, 'bad'],
  ] as const)('%s', (_, usage, percent, tone) => {
    expect(periodBarTexts('day', usage, NOW)).toMatchObject({ percent, tone });
  });

  it('names what is reserved', () => {
    expect(periodBarTexts('day', usageOf(2_500_000, 1_600_000, 400_000), NOW).used).toBe(
      '$3.20 of $5.00 today · $1.00 reserved',
    );
  });

  it.each([
    [-5, 'resets now'],
    [0, 'resets now'],
    [59, 'resets in less than 1 min'],
    [(7 * 24 + 21) * HOUR, 'resets in 7 d 21 h'],
  ])('%d seconds before the reset: %s', (seconds, resets) => {
    expect(periodBarTexts('day', usageOf(10, 1, 9, NOW + seconds), NOW).resets).toBe(resets);
  });
});

describe('the periods of a bar', () => {
  it('are those with a limit', () => {
    expect(limitedPeriods(makePeriodUsage())).toEqual([]);
    expect(tightestPeriod(makePeriodUsage())).toBeUndefined();
    const usage = makePeriodUsage({ day: usageOf(100, 10), month: usageOf(100, 50) });
    expect(limitedPeriods(usage)).toEqual(['day', 'month']);
    expect(tightestPeriod(usage)).toBe('month');
    expect(tightestPeriod({ ...usage, day: usageOf(0, 0) })).toBe('day');
  });
});

describe('the limit that stops a key', () => {
  const later = NOW + 9 * HOUR;
  it.each([
    ['the one that resets last', { day: usageOf(10, 10), week: usageOf(10, 10, 0, later) }, 'week'],
    ['a limit of 0', { day: usageOf(0, 0), week: usageOf(10, 10, 0, later) }, 'day'],
    ['one that is used up', { day: usageOf(10, 10), week: usageOf(10, 9, 1, later) }, 'day'],
    ['else the one of which most is used', { day: usageOf(10, 1), month: usageOf(10, 9) }, 'month'],
    ['none without limits', {}, undefined],
  ] as const)('is %s', (_, usage, period) => {
    expect(stoppingPeriod(makePeriodUsage(usage))).toBe(period);
  });
});
