import { describe, expect, it } from 'vitest';
import {
  formatDate,
  formatDays,
  formatLaterDay,
  formatMonthAndDay,
  formatNarrowWeekday,
  formatWeekday,
} from './calendar';

describe('usage dates', () => {
  it('do not shift with the time zone', () => {
    expect(formatWeekday('2026-11-21')).toBe('Sat');
    expect(formatDate('2026-11-21')).toBe('Sat, Nov 21');
    expect(formatDate('2026-01-01')).toBe('Thu, Jan 1');
  });

  it.each(['', 'soon', '2026-99-01', '+999999-01-01'])(
    'that are none are shown as they are: "%s"',
    (text) => {
      for (const format of [formatDate, formatWeekday, formatNarrowWeekday, formatMonthAndDay])
        expect(format(text)).toBe(text);
      expect(formatLaterDay(text, '2026-01-01')).toBe(text);
      expect(formatDays(text, text, '2026-01-01')).toBe(`${text} – ${text}`);
    },
  );
});
