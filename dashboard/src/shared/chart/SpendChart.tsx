import { useState } from 'react';
import type { DayUsage } from '../../api/dailyUsage';
import { unitsOf } from '../../format/usage';
import { texts } from '../../texts';
import { BarChart } from './BarChart';
import { DayFigures, summaryOf } from './DayFigures';
import classes from './SpendChart.module.css';

const BEFORE = 'color-mix(in srgb, var(--km-accent) 60%, var(--mantine-color-body))';
const TODAY = 'var(--km-accent)';

interface Props {
  daily: DayUsage[];
  /** The bar of this day is highlighted. */
  today?: string;
}

/** The spend by day. */
export function SpendChart({ daily, today }: Props) {
  const [pointed, setPointed] = useState<number>();
  const summary = summaryOf(daily);
  const bars = daily.map(({ date, usd }) => ({
    date,
    parts: [{ units: unitsOf(usd), color: date === today ? TODAY : BEFORE }],
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
    </div>
  );
}
