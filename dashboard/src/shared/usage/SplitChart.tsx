import type { DayUsage } from '../../api/dailyUsage';
import { formatUsd } from '../../format/money';
import { DailyChart } from '../chart/DailyChart';
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
  const partsOf = (_: DayUsage, day: number) =>
    series.map(({ units, color }) => ({ units: units[day] ?? 0, color }));
  return (
    <DailyChart daily={daily} partsOf={partsOf} today={today}>
      {(pointed) => (
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
      )}
    </DailyChart>
  );
}
