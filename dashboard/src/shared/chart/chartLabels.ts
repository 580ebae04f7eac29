import { formatMonthAndDay, formatNarrowWeekday, formatWeekday } from '../../format/calendar';
import { barFormat } from '../../format/compact';
import { formatHour } from '../../format/hour';
import { UNITS_PER_USD } from '../../format/money';
import { texts } from '../../texts';

/** Widths in pixels of labels at the font size of charts. */
const WIDE = 58;
const NARROW = 42;
/** For amounts below a cent, which are exact. */
const FINE = 74;
const CENT = UNITS_PER_USD / 100;
const DATE = 62;
const HOUR = 50;

/** Charts with more days have dates as labels. */
export const WEEKDAYS_UP_TO = 10;

export interface BarLabels {
  /** Absent if there is no room. */
  value: ((units: number) => string) | undefined;
  /** The label below the bar, or an empty text. */
  name: (date: string, index: number) => string;
}

/**
 * The labels that fit to `count` bars of this width, the highest of `most` units, without touching each other. With a
 * `zone` the bars are hours.
 */
export function barLabels(
  count: number,
  barWidth: number,
  most: number,
  today: string | undefined,
  zone?: string,
): BarLabels {
  const value = barWidth >= NARROW ? barFormat(most, barWidth < (most < CENT ? FINE : WIDE)) : undefined;
  if (zone !== undefined) {
    const every = Math.max(1, Math.ceil(HOUR / barWidth));
    return { value, name: (hour, index) => (index % every ? '' : formatHour(Number(hour), zone)) };
  }
  if (count > WEEKDAYS_UP_TO) {
    const every = Math.max(1, Math.ceil(DATE / barWidth));
    // Counted from the last day, which always has a label.
    return { value, name: (date, index) => ((count - 1 - index) % every ? '' : formatMonthAndDay(date)) };
  }
  const weekday = barWidth >= NARROW ? formatWeekday : formatNarrowWeekday;
  const isToday = (date: string) => date === today && barWidth >= NARROW;
  return { value, name: (date) => (isToday(date) ? texts.common.spendChart.today : weekday(date)) };
}
