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
  /** The bars are the hours of this zone. Absent for days. */
  zone: string | undefined;
  /** Called with the day or hour whose bar is clicked. */
  onOpen: (date: string) => void;
}

/** The spend by day or hour, stacked. The amounts of the legend are those of the bar below the pointer, or of all. */
export function SplitChart({ daily, series, ...bars }: Props) {
  const partsOf = (_: DayUsage, day: number) =>
    series.map(({ units, color }) => ({ units: units[day] ?? 0, color }));
  return (
    <DailyChart daily={daily} partsOf={partsOf} {...bars}>
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
