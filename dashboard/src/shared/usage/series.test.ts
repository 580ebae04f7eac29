import { describe, expect, it } from 'vitest';
import type { Report, ReportRow } from '../../api/usageReports';
import { MAX_SERIES, seriesOf } from './series';

const FIRST = '2026-11-01';
const SECOND = '2026-11-02';

function row(quota: number, fields: Partial<ReportRow> = {}): ReportRow {
  return { quota, usd: quota / 500_000, requests: 1, prompt_tokens: 0, completion_tokens: 0, ...fields };
}

function report(rows: ReportRow[]): Report {
  const quota = rows.reduce((sum, each) => sum + each.quota, 0);
  return { from: FIRST, to: SECOND, time_zone: 'UTC', group_by: [], rows, total: row(quota) };
}

/** The first model spent 100 on the first day, the others 1 each on the second. */
function reports(others: number) {
  const names = Array.from({ length: others }, (_, index) => `model-${index}`);
  return {
    split: 'model' as const,
    time: report([row(100, { date: FIRST }), row(others, { date: SECOND })]),
    top: report([row(100, { model: 'top' }), ...names.map((model) => row(1, { model }))]),
    both: report([
      row(100, { date: FIRST, model: 'top' }),
      ...names.map((model) => row(1, { date: SECOND, model })),
    ]),
  };
}

describe('the series of a chart', () => {
  it('have the spend of each day, the highest first', () => {
    expect(seriesOf(reports(1))).toMatchObject([
      { row: { model: 'top' }, units: [100, 0], total: 100 },
      { row: { model: 'model-0' }, units: [0, 1], total: 1 },
    ]);
  });

  it('are a few, and one for all others', () => {
    expect(seriesOf(reports(MAX_SERIES - 1))).toHaveLength(MAX_SERIES);
    const series = seriesOf(reports(MAX_SERIES + 1));
    expect(series).toHaveLength(MAX_SERIES + 1);
    expect(series.at(-1)).toMatchObject({ row: undefined, units: [0, 2], total: 2 });
    expect(new Set(series.map(({ color }) => color)).size).toBe(series.length);
  });

  it('add up to the days', () => {
    const all = reports(9);
    const series = seriesOf(all);
    const sums = all.time.rows.map((_, day) => series.reduce((sum, { units }) => sum + (units[day] ?? 0), 0));
    expect(sums).toEqual([100, 9]);
  });

  it('have the spend of each hour, also of two that are called the same', () => {
    // In Berlin, 2:00 to 3:00 came twice.
    const hours = [1_792_886_400, 1_792_890_000];
    const byHour = {
      split: 'group' as const,
      time: report(hours.map((hour) => row(3, { hour }))),
      top: report([row(4, { group: 'default' }), row(2, { group: 'vip' })]),
      both: report(
        hours.flatMap((hour) => [row(2, { hour, group: 'default' }), row(1, { hour, group: 'vip' })]),
      ),
    };
    expect(seriesOf(byHour)).toMatchObject([
      { row: { group: 'default' }, units: [2, 2], total: 4 },
      { row: { group: 'vip' }, units: [1, 1], total: 2 },
    ]);
  });

  it('are absent if there is only one, or if there were too many rows', () => {
    expect(seriesOf(reports(0))).toEqual([]);
    expect(seriesOf({ ...reports(1), both: undefined })).toEqual([]);
  });
});
