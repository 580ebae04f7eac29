import { describe, expect, it } from 'vitest';
import { formatHour, formatHourAndDay } from './hour';

const HOUR = 3600;

/** `Intl` separates "2" and "PM" by a narrow space. */
const plain = (text: string) => text.replace(/\s/g, ' ');

function hoursFrom(midnight: string, count: number, format: typeof formatHour): string[] {
  const first = Date.parse(midnight) / 1000;
  return Array.from({ length: count }, (_, hour) => plain(format(first + hour * HOUR, 'America/New_York')));
}

describe('an hour', () => {
  it('is on the clocks of a zone, also of one with half an hour', () => {
    const seconds = Date.parse('2026-11-21T14:00:00+09:00') / 1000;
    expect(plain(formatHour(seconds, 'Asia/Tokyo'))).toBe('2 PM');
    expect(plain(formatHourAndDay(seconds, 'Asia/Tokyo'))).toBe('Sat, Nov 21, 2:00 PM GMT+9');
    const half = Date.parse('2026-11-21T14:00:00+05:30') / 1000;
    expect(plain(formatHour(half, 'Asia/Kolkata'))).toBe('2 PM');
  });

  it('is left out when clocks are set forward', () => {
    expect(hoursFrom('2026-03-08T00:00:00-05:00', 4, formatHour)).toEqual(['12 AM', '1 AM', '3 AM', '4 AM']);
  });

  it('comes twice when clocks are set back, and the zone tells the two apart', () => {
    const midnight = '2026-11-01T00:00:00-04:00';
    expect(hoursFrom(midnight, 4, formatHour)).toEqual(['12 AM', '1 AM', '1 AM', '2 AM']);
    expect(hoursFrom(midnight, 3, formatHourAndDay).slice(1)).toEqual([
      'Sun, Nov 1, 1:00 AM EDT',
      'Sun, Nov 1, 1:00 AM EST',
    ]);
  });
});
