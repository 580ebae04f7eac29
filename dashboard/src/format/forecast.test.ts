import { describe, expect, it } from 'vitest';
import { forecastSentences } from './forecast';

const TODAY = '2026-04-01';
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
    expect(forecastSentences({ quota: ends(11, '2026-04-12', '2026-04-02', '2026-04-30') }, TODAY)).toEqual([
      'Lasts until about Apr 12 (between Apr 2 and Apr 30).',
    ]);
    expect(forecastSentences({ quota: ends(11, '2026-04-12', '2026-04-12', '2026-04-12') }, TODAY)).toEqual([
      'Lasts until about Apr 12.',
    ]);
    expect(forecastSentences({ quota: ends(300, '2027-01-26', '2027-01-01', null) }, TODAY)).toEqual([
      'Lasts until about Jan 26, 2027.',
    ]);
  });

  it('says when limits end', () => {
    const day = ends(2, '2026-04-03', null, null);
    expect(forecastSentences({ week: day, month: { ...day, days: 0 } }, TODAY)).toEqual([
      'The weekly limit ends in 2 days.',
      'The monthly limit ends today.',
    ]);
  });

  it('says nothing if nothing ends, or not within a century', () => {
    expect(forecastSentences({ quota: null, week: null, month: null }, TODAY)).toEqual([]);
    const far = { days: 99_999, earliest_days: 0, latest_days: 0, runs_out_on: null };
    expect(forecastSentences({ quota: far }, TODAY)).toEqual([]);
  });
});
