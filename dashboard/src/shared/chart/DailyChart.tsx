import { type ReactNode, useState } from 'react';
import type { DayUsage } from '../../api/dailyUsage';
import { texts } from '../../texts';
import { BarChart, type BarPart } from './BarChart';
import classes from './DailyChart.module.css';
import { DayFigures, summaryOf } from './DayFigures';

interface Props {
  daily: DayUsage[];
  /** The bar of a day. */
  partsOf: (day: DayUsage, index: number) => BarPart[];
  /** The name of this day is highlighted. */
  today?: string;
  /** As high as what is around it. */
  fills?: boolean;
  /** Below the bars. `pointed` is the index of the day below the pointer. */
  children?: (pointed: number | undefined) => ReactNode;
}

/** A bar for each day, and above them the figures of the day below the pointer. */
export function DailyChart({ daily, partsOf, today, fills, children }: Props) {
  const [pointed, setPointed] = useState<number>();
  const summary = summaryOf(daily);
  return (
    <div className={classes.chart} data-fills={fills || undefined}>
      <DayFigures day={pointed === undefined ? undefined : daily[pointed]} summary={summary} />
      <div className={classes.bars}>
        <BarChart
          bars={daily.map((day, index) => ({ date: day.date, parts: partsOf(day, index) }))}
          label={texts.common.spendChart.label(summary)}
          today={today}
          pointed={pointed}
          onPoint={setPointed}
        />
      </div>
      {children?.(pointed)}
    </div>
  );
}
