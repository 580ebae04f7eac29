import { describe, expect, it } from 'vitest';
import type { DailyUsage, DayUsage } from '../../../api/dailyUsage';
import { totalsOf } from '../../../format/usage';
import { csv, usageCsv, usageFileName } from './csv';

function day(date: string, usd: number): DayUsage {
  return { date, usd, requests: 2, prompt_tokens: 30, completion_tokens: 4 };
}

function usage(token_name: string, daily: DayUsage[] = []): DailyUsage {
  return { token_id: 7, token_name, start_date: '2026-03-01', end_date: '2026-03-02', daily };
}

describe('csv', () => {
  it('quotes values that need it', () => {
    expect(csv([['a,b', 'say "hi"', 'two\nlines', 'plain', 1]])).toBe(
      '"a,b","say ""hi""","two\nlines",plain,1\r\n',
    );
  });

  it('has one line per day with exact amounts', () => {
    const text = usageCsv(usage('CI, nightly', [day('2026-03-01', 0.000002), day('2026-03-02', 1.5)]));
    expect(text.split('\r\n')).toEqual([
      'token_id,token_name,date,usd,requests,prompt_tokens,completion_tokens',
      '7,"CI, nightly",2026-03-01,0.000002,2,30,4',
      '7,"CI, nightly",2026-03-02,1.5,2,30,4',
      '',
    ]);
  });

  it('contains no formulas', () => {
    expect(usageCsv(usage('=1+1', [day('2026-03-01', 0)]))).toContain(",'=1+1,");
  });
});

describe('usageFileName', () => {
  it.each([
    ['Production', 'production-2026-03-01-2026-03-02.csv'],
    ['CI / nightly: "a"', 'ci-nightly-a-2026-03-01-2026-03-02.csv'],
    ['Übung ★', 'übung-2026-03-01-2026-03-02.csv'],
    ['../..', 'key-7-2026-03-01-2026-03-02.csv'],
  ])('of %j', (name, file) => {
    expect(usageFileName(usage(name))).toBe(file);
  });

  it('contains a single day once', () => {
    expect(usageFileName({ ...usage('a'), end_date: '2026-03-01' })).toBe('a-2026-03-01.csv');
  });
});

describe('totalsOf', () => {
  it('is exact', () => {
    const { units, requests } = totalsOf([day('a', 0.1), day('b', 0.2), day('c', 0.000002)]);
    expect([units, requests]).toEqual([150_001, 6]);
  });
});
