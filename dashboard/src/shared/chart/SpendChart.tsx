import { useState } from 'react';
import type { DayUsage } from '../../api/dailyUsage';
import { formatDate } from '../../format/calendar';
import { formatCompact } from '../../format/compact';
import { formatUsd } from '../../format/money';
import { unitsOf } from '../../format/usage';
import { texts } from '../../texts';
import { BarChart } from './BarChart';
import classes from './SpendChart.module.css';

const words = texts.common.spendChart;
const BEFORE = 'color-mix(in srgb, var(--km-accent) 60%, var(--mantine-color-body))';
const TODAY = 'var(--km-accent)';

interface Props {
  daily: DayUsage[];
  /** The bar of this day is highlighted. */
  today?: string;
}

/** The spend by day. The figures of the day below the pointer are above the bars, where they cover nothing. */
export function SpendChart({ daily, today }: Props) {
  const [pointed, setPointed] = useState<number>();
  const day = pointed === undefined ? undefined : daily[pointed];
  const summary = summaryOf(daily);
  const bars = daily.map(({ date, usd }) => ({
    date,
    parts: [{ units: unitsOf(usd), color: date === today ? TODAY : BEFORE }],
  }));
  return (
    <div className={classes.chart}>
      <div className={classes.figures} aria-hidden>
        {day ? <Figures day={day} /> : summary}
      </div>
      <div className={classes.bars}>
        <BarChart
          bars={bars}
          label={words.label(summary)}
          today={today}
          pointed={pointed}
          onPoint={setPointed}
        />
      </div>
    </div>
  );
}

function summaryOf(daily: DayUsage[]): string {
  const most = daily.reduce<DayUsage | undefined>(
    (top, day) => (day.usd > (top?.usd ?? 0) ? day : top),
    undefined,
  );
  return most ? words.highest(formatUsd(unitsOf(most.usd)), formatDate(most.date)) : words.nothing;
}

function Figures({ day }: { day: DayUsage }) {
  return (
    <>
      <strong>{texts.common.labelled(formatDate(day.date), formatUsd(unitsOf(day.usd)))}</strong> ·{' '}
      {words.requests(day.requests)} ·{' '}
      {words.tokens(formatCompact(day.prompt_tokens), formatCompact(day.completion_tokens))}
    </>
  );
}
