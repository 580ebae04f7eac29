import { describe, expect, it } from 'vitest';
import type { UsageOfPeriod } from '../api/limits';
import { forecastSentences, isStopped } from './forecast';

const TODAY = '2026-04-01';
const period = (limit: number, remaining: number): UsageOfPeriod => ({
  limit,
  remaining,
  used: limit - remaining,
  resets_at: 0,
});
const USAGE = { day: period(-1, -1), week: period(9, 1), month: period(-1, -1) };

const ends = (days: number, on: string, earliest: string | null, latest: string | null) => ({
  days,
  earliest_days: 0,
  latest_days: 0,
  runs_out_on: on,
  earliest_on: earliest,
  latest_on: latest,
});

describe('forecastSentences', () => {
  it('says how long the quota lasts, and between which days', () => {
    expect(
      forecastSentences({ quota: ends(11, '2026-04-12', '2026-04-02', '2026-04-30') }, USAGE, TODAY),
    ).toEqual(['Lasts until about Apr 12 (between Apr 2 and Apr 30).']);
    expect(
      forecastSentences({ quota: ends(11, '2026-04-12', '2026-04-12', '2026-04-12') }, USAGE, TODAY),
    ).toEqual(['Lasts until about Apr 12.']);
    expect(forecastSentences({ quota: ends(300, '2027-01-26', '2027-01-01', null) }, USAGE, TODAY)).toEqual([
      'Lasts until about Jan 26, 2027.',
    ]);
  });

  it('says when limits end', () => {
    const day = ends(2, '2026-04-03', null, null);
    expect(forecastSentences({ week: day, month: { ...day, days: 0 } }, USAGE, TODAY)).toEqual([
      'The weekly limit ends in 2 days.',
      'The monthly limit ends today.',
    ]);
  });

  it('does not say when a limit ends that is used up', () => {
    const usage = { ...USAGE, month: period(9, 0) };
    const month = ends(0, '2026-04-01', null, null);
    expect(forecastSentences({ month }, usage, TODAY)).toEqual([]);
    expect(forecastSentences({ month }, { ...USAGE, month: period(9, 1) }, TODAY)).toHaveLength(1);
  });

  it.each([
    ['working', false],
    ['key_limit_reached', false],
    ['account_limit_reached', false],
    ['disabled', true],
    ['account_disabled', true],
    ['expired', true],
    ['used_up', true],
    ['a state of a newer server', true],
  ])('is of no key in the state %s: %s', (state, stopped) => {
    expect(isStopped(state)).toBe(stopped);
  });

  it('says nothing if nothing ends, or not within a century', () => {
    expect(forecastSentences({ quota: null, week: null, month: null }, USAGE, TODAY)).toEqual([]);
    const far = { days: 99_999, earliest_days: 0, latest_days: 0, runs_out_on: null };
    expect(forecastSentences({ quota: far }, USAGE, TODAY)).toEqual([]);
  });
});
