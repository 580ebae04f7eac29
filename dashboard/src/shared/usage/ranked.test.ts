import { describe, expect, it } from 'vitest';
import { ranked } from './ranked';

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
    expect(ranked(report([500_000, 500_000]), 1)).toMatchObject([{ percent: 50 }]);
  });

  it('goes on from page to page, with shares of everything', () => {
    const page = { rows: [row(500_000)], total: row(2_000_000), page: 3, page_size: 20 };
    expect(ranked(page)).toMatchObject([{ rank: 41, percent: 25 }]);
  });
});
