import { type ReactNode, useState } from 'react';
import type { DayUsage } from '../../api/dailyUsage';
import { texts } from '../../texts';
import { BarChart, type BarPart } from './BarChart';
import classes from './DailyChart.module.css';
import { DayFigures, summaryOf } from './DayFigures';

const words = texts.common.spendChart;

interface Props {
  daily: DayUsage[];
  /** The bar of a day. */
  partsOf: (day: DayUsage, index: number) => BarPart[];
  /** The name of this day is highlighted. */
  today?: string;
  /** The bars are the hours of this zone. Absent for days. */
  zone?: string;
  /** Called with the day or hour whose bar is clicked. */
  onOpen?: (date: string) => void;
  /** As high as what is around it. */
  fills?: boolean;
  /** Below the bars. `pointed` is the index of the day below the pointer. */
  children?: (pointed: number | undefined) => ReactNode;
}

/** A bar for each day or hour, and above them the figures of the one below the pointer. */
export function DailyChart({ daily, partsOf, today, zone, onOpen, fills, children }: Props) {
  const [pointed, setPointed] = useState<number>();
  const summary = summaryOf(daily, zone);
  const label = zone === undefined ? words.label : words.labelByHour;
  return (
    <div className={classes.chart} data-fills={fills || undefined}>
      <DayFigures day={pointed === undefined ? undefined : daily[pointed]} zone={zone} summary={summary} />
      <div className={classes.bars}>
        <BarChart
          bars={daily.map((day, index) => ({ date: day.date, parts: partsOf(day, index) }))}
          label={label(summary)}
          zone={zone}
          today={today}
          pointed={pointed}
          onPoint={setPointed}
          onOpen={onOpen && ((index) => onOpen(daily[index]?.date ?? ''))}
        />
      </div>
      {children?.(pointed)}
    </div>
  );
}
