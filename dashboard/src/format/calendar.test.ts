import { describe, expect, it } from 'vitest';
import { formatDate, formatWeekday } from './calendar';

describe('usage dates', () => {
  it('do not shift with the time zone', () => {
    expect(formatWeekday('2026-11-21')).toBe('Sat');
    expect(formatDate('2026-11-21')).toBe('Sat, Nov 21');
    expect(formatDate('2026-01-01')).toBe('Thu, Jan 1');
  });
});
