import { Text, Tooltip } from '@mantine/core';
import type { CSSProperties } from 'react';
import type { DayUsage } from '../../api/dailyUsage';
import { formatDate } from '../../format/calendar';
import { formatCompact } from '../../format/compact';
import { formatUsd, formatUsdExact } from '../../format/money';
import { roundDays, unitsOf } from '../../format/usage';
import { texts } from '../../texts';
import { useWidth } from '../useWidth';
import { barLabels, WEEKDAYS_UP_TO } from './chartLabels';
import classes from './SpendChart.module.css';

const words = texts.common.spendChart;

interface Props {
  daily: DayUsage[];
  /** The bar of this day is highlighted. */
  today?: string;
}

/** A bar chart drawn with CSS. Pages that use it also show the figures as a table. */
export function SpendChart({ daily, today }: Props) {
  const rounded = roundDays(daily);
  const days = daily.map((day, index) => ({ ...day, units: unitsOf(day.usd), shown: rounded[index] ?? 0 }));
  const most = days.reduce((top, day) => (day.units > top.units ? day : top), {
    date: '',
    units: 0,
    shown: 0,
  });
  const summary =
    most.units > 0 ? words.summary(formatUsd(most.shown), formatDate(most.date)) : words.nothing;
  const { ref, width } = useWidth();
  const labels = barLabels(days.length, (width ?? 0) / days.length, today);
  return (
    <div
      ref={ref}
      role="img"
      aria-label={summary}
      className={classes.chart}
      data-dates={days.length > WEEKDAYS_UP_TO || undefined}
    >
      {days.map((day, index) => (
        <Tooltip key={day.date} label={<Figures day={day} />}>
          <div className={classes.day} data-today={day.date === today || undefined}>
            <div className={classes.track}>
              {labels.value && (
                <span className={classes.value} data-none={day.units === 0 || undefined}>
                  {labels.value(day.shown)}
                </span>
              )}
              <div className={classes.bar} style={share(day.units, most.units)} />
            </div>
            <span className={classes.name}>{labels.name(day.date, index)}</span>
          </div>
        </Tooltip>
      ))}
    </div>
  );
}

function share(units: number, most: number): CSSProperties {
  return { '--share': most > 0 ? units / most : 0 } as CSSProperties;
}

function Figures({ day }: { day: DayUsage & { units: number } }) {
  return (
    <>
      <Text size="sm" fw={600}>
        {texts.common.labelled(formatDate(day.date), formatUsdExact(day.units))}
      </Text>
      <Text size="sm">{words.requests(day.requests)}</Text>
      <Text size="sm">
        {words.tokens(formatCompact(day.prompt_tokens), formatCompact(day.completion_tokens))}
      </Text>
    </>
  );
}
