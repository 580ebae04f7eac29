import { describe, expect, it } from 'vitest';
import type { DayUsage } from '../api/dailyUsage';
import { newestFirst } from './usage';

function day(date: string, units: number): DayUsage {
  return { date, usd: units / 500_000, requests: 1, prompt_tokens: 0, completion_tokens: 0 };
}

const days = [day('2026-03-01', 7_400), day('2026-03-02', 7_400), day('2026-03-03', 7_400)];

describe('days', () => {
  it('have the newest one first', () => {
    expect(newestFirst(days).map(({ date }) => date)).toEqual(['2026-03-03', '2026-03-02', '2026-03-01']);
  });
});
