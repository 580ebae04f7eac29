import { useState } from 'react';
import type { DayUsage } from '../../api/dailyUsage';
import { formatUsd } from '../../format/money';
import { texts } from '../../texts';
import { BarChart } from '../chart/BarChart';
import { DayFigures, summaryOf } from '../chart/DayFigures';
import classes from './SplitChart.module.css';
import { Swatch } from './Swatch';
import type { NamedSeries } from './series';

interface Props {
  daily: DayUsage[];
  series: NamedSeries[];
  /** The name of this day is highlighted. */
  today: string;
}

/** The spend by day, stacked. The amounts of the legend are those of the day below the pointer, or of all days. */
export function SplitChart({ daily, series, today }: Props) {
  const [pointed, setPointed] = useState<number>();
  const summary = summaryOf(daily);
  const bars = daily.map(({ date }, day) => ({
    date,
    parts: series.map(({ units, color }) => ({ units: units[day] ?? 0, color })),
  }));
  return (
    <div className={classes.chart}>
      <DayFigures day={pointed === undefined ? undefined : daily[pointed]} summary={summary} />
      <div className={classes.bars}>
        <BarChart
          bars={bars}
          label={texts.common.spendChart.label(summary)}
          today={today}
          pointed={pointed}
          onPoint={setPointed}
        />
      </div>
      <ul className={classes.legend}>
        {series.map(({ key, name, color, units, total }) => (
          <li key={key}>
            <Swatch color={color} />
            <span className={classes.name} title={name}>
              {name}
            </span>
            <span className="tabular">
              {formatUsd(pointed === undefined ? total : (units[pointed] ?? 0))}
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}
