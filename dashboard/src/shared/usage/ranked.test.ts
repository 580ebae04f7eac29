import { describe, expect, it } from 'vitest';
import { MAX_RANKS, ranked } from './ranked';

const row = (quota: number) => ({
  quota,
  usd: quota / 500_000,
  requests: 1,
  prompt_tokens: 0,
  completion_tokens: 0,
});
const report = (quotas: number[]) => ({
  rows: quotas.map(row),
  total: row(quotas.reduce((sum, quota) => sum + quota, 0)),
});

describe('a ranking', () => {
  it('has ranks and shares of the total', () => {
    const rows = ranked(report([1_500_000, 500_000]));
    expect(rows).toMatchObject([
      { rank: 1, percent: 75 },
      { rank: 2, percent: 25 },
    ]);
  });

  it('has no shares of nothing', () => {
    expect(ranked(report([0]))).toMatchObject([{ rank: 1, percent: 0 }]);
    expect(ranked(report([]))).toEqual([]);
  });

  it('is limited, with shares of everything', () => {
    const all = report(Array.from({ length: MAX_RANKS + 1 }, () => 500_000));
    expect(ranked(all)).toHaveLength(MAX_RANKS);
    expect(ranked(report([500_000, 500_000]), 1)).toMatchObject([{ percent: 50 }]);
  });
});
