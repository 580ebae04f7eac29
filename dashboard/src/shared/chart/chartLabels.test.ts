import { describe, expect, it } from 'vitest';
import { barLabels } from './chartLabels';

const TODAY = '2026-11-21';
const UNITS = 61_725_000;

describe('barLabels', () => {
  it.each([
    [7, 100, '$123.45', 'Today', 'Fri'],
    [7, 45, '$123', 'Today', 'Fri'],
    [8, 31, undefined, 'S', 'F'],
    [30, 24, undefined, 'Nov 21', ''],
    [30, 70, '$123.45', 'Nov 21', 'Nov 20'],
    [90, 4, undefined, 'Nov 21', ''],
  ])('%d bars of %d pixels', (count, width, value, today, yesterday) => {
    const labels = barLabels(count, width, UNITS, TODAY);
    expect(labels.value?.(UNITS)).toBe(value);
    expect(labels.name(TODAY, count - 1)).toBe(today);
    expect(labels.name('2026-11-20', count - 2)).toBe(yesterday);
  });

  it.each([
    [24, 60, '2 AM', '3 AM'],
    [24, 30, '2 AM', ''],
  ])('%d hours of %d pixels, on the clocks of the server', (count, width, third, fourth) => {
    const labels = barLabels(count, width, UNITS, TODAY, 'Asia/Tokyo');
    const midnight = Date.parse('2026-11-21T00:00:00+09:00') / 1000;
    expect(labels.name(String(midnight + 2 * 3600), 2)).toBe(third);
    expect(labels.name(String(midnight + 3 * 3600), 3)).toBe(fourth);
  });
});
