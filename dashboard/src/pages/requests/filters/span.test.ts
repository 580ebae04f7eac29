import { describe, expect, it } from 'vitest';
import { formatMinute } from '../../../format/time';
import { lastHour, readSpan, type Span, spanOf, spanText, typedEnds, wholeDays, withSpan } from './span';
import { startOfDay } from './startOfDay';

const TODAY = '2026-11-28';
/** 2026-11-28 14:02:30 UTC */
const NOW = Date.UTC(2026, 10, 28, 14, 2, 30) / 1000;
const read = (query: string) => readSpan(new URLSearchParams(query), TODAY, 'monday');

describe('readSpan', () => {
  it.each([
    ['', { choice: '7d', start: '2026-11-22', end: TODAY }],
    ['range=today', { choice: 'today', start: TODAY, end: TODAY }],
    ['range=lost', { choice: '7d', start: '2026-11-22', end: TODAY }],
    ['range=all', { choice: 'all' }],
    [
      'range=custom&from=2026-11-01&to=2026-11-02',
      { choice: 'custom', start: '2026-11-01', end: '2026-11-02' },
    ],
    ['range=custom&from=1795874520', { choice: 'custom', start: '1795874520', end: undefined }],
    ['range=custom&from=0000-01-01&to=2026-13-01', { choice: 'custom', start: undefined, end: undefined }],
    ['range=custom&from=-5&to=1e9', { choice: 'custom', start: undefined, end: undefined }],
  ])('of %j is %j', (query, span) => {
    expect(read(query)).toEqual(span);
  });

  it('looks for an ID in all time, unless one is chosen', () => {
    expect(read('request_id=chat-7')).toEqual({ choice: 'all' });
    expect(read('request_id=chat-7&range=today')).toMatchObject({ choice: 'today' });
  });

  it.each<Span>([
    { choice: '30d', start: '2026-10-30', end: TODAY },
    { choice: 'all' },
    { choice: 'custom', start: '1795874520', end: undefined },
    { choice: 'custom', start: '1795874520', end: '1795874639' },
  ])('reads what withSpan wrote: %j', (span) => {
    const params = withSpan(new URLSearchParams('model=o3&range=custom&from=1&to=2'), span);
    expect(params.get('model')).toBe('o3');
    expect(readSpan(params, TODAY, 'monday')).toEqual(span);
  });
});

describe('spanText', () => {
  const at = Date.UTC(2026, 10, 28, 14, 2) / 1000;
  it.each<[Span, string]>([
    [{ choice: '7d', start: '', end: '' }, 'Last 7 days'],
    [{ choice: 'all' }, 'All time'],
    [{ choice: 'custom' }, 'All time'],
    [{ choice: 'custom', start: '2026-11-01', end: '2025-11-02' }, 'Nov 1 – Nov 2, 2025'],
    [{ choice: 'custom', start: String(at) }, `Since ${formatMinute(at, NOW)}`],
    [{ choice: 'custom', end: String(at) }, `Until ${formatMinute(at, NOW)}`],
    [{ choice: 'custom', start: String(at), end: String(at + 59) }, formatMinute(at, NOW)],
  ])('of %j is %s', (span, text) => {
    expect(spanText(span, TODAY, NOW)).toBe(text);
  });
});

describe('what is typed', () => {
  it('includes its last minute, and is typed again as it was', () => {
    const typed = { from: '2026-11-28T14:02', to: '2026-11-28T14:02' };
    const span = spanOf(typed);
    expect(Number(span?.end) - Number(span?.start)).toBe(59);
    expect(span && typedEnds(span, 'UTC')).toEqual(typed);
  });

  it('may have open ends, but no end before its start', () => {
    expect(spanOf({ from: '', to: '' })).toEqual({ choice: 'custom', start: undefined, end: undefined });
    expect(spanOf({ from: '2026-11-28T14:02', to: '2026-11-28T14:01' })).toBeUndefined();
  });

  it('begins with whole days of the server', () => {
    const ends = typedEnds({ start: '2026-11-27', end: '2026-11-28' }, 'Asia/Shanghai');
    expect(spanOf(ends)).toEqual({
      choice: 'custom',
      start: String(Date.UTC(2026, 10, 26, 16) / 1000),
      end: String(Date.UTC(2026, 10, 28, 16) / 1000 - 1),
    });
  });
});

it('the last hour starts at a fixed second', () => {
  expect(lastHour(NOW)).toEqual({ choice: 'custom', start: String(NOW - 3600) });
});

describe('startOfDay', () => {
  it.each([
    ['2026-11-28', 'UTC', '2026-11-28T00:00:00Z'],
    ['2026-11-28', 'Asia/Kolkata', '2026-11-27T18:30:00Z'],
    // Clocks change in the night before and in the middle of the day.
    ['2026-03-29', 'Europe/Berlin', '2026-03-28T23:00:00Z'],
    ['2026-03-30', 'Europe/Berlin', '2026-03-29T22:00:00Z'],
  ])('of %s in %s is %s', (day, zone, start) => {
    expect(startOfDay(day, zone)).toBe(Date.parse(start) / 1000);
  });
});

it.each<[Span, boolean]>([
  [{ choice: '7d', start: '2026-11-22', end: TODAY }, true],
  [{ choice: 'custom', start: '2026-11-22', end: TODAY }, true],
  [{ choice: 'custom', start: '2026-11-22' }, false],
  [{ choice: 'custom', start: '1795874520', end: TODAY }, false],
  [{ choice: 'all' }, false],
])('%j has whole days: %s', (span, isWhole) => {
  expect(wholeDays(span) !== undefined).toBe(isWhole);
});
