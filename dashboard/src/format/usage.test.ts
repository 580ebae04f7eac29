import { describe, expect, it } from 'vitest';
import type { DayUsage } from '../api/dailyUsage';
import { formatRows } from './money';
import { newestFirst, roundDays, unitsOf } from './usage';

function day(date: string, units: number): DayUsage {
  return { date, usd: units / 500_000, requests: 1, prompt_tokens: 0, completion_tokens: 0 };
}

const days = [day('2026-03-01', 7_400), day('2026-03-02', 7_400), day('2026-03-03', 7_400)];

describe('days', () => {
  it('have the newest one first', () => {
    expect(newestFirst(days).map(({ date }) => date)).toEqual(['2026-03-03', '2026-03-02', '2026-03-01']);
  });

  it('are rounded like the rows of their table', () => {
    expect(roundDays(days)).toEqual([5_000, 10_000, 5_000]);
    const table = formatRows(newestFirst(days).map(({ usd }) => unitsOf(usd)));
    expect(table).toEqual({ rows: ['$0.01', '$0.02', '$0.01'], total: '$0.04' });
  });

  it('have the same amount of the newest day in every range', () => {
    const amounts = [7_400, 7_499, 12_501, 499_999, 7_501];
    const month = amounts.map((units, index) => day(`2026-03-0${index + 1}`, units));
    for (let first = 0; first < month.length; first += 1) {
      expect(roundDays(month.slice(first)).at(-1)).toBe(10_000);
    }
  });
});
