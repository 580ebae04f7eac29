import type { DayUsage } from '../../api/dailyUsage';
import { formatDate } from '../../format/calendar';
import { formatCompact } from '../../format/compact';
import { formatUsd } from '../../format/money';
import { unitsOf } from '../../format/usage';
import { texts } from '../../texts';
import classes from './DayFigures.module.css';

const words = texts.common.spendChart;

interface Props {
  /** The day below the pointer. */
  day: DayUsage | undefined;
  /** Shown if there is none. */
  summary: string;
}

/** The figures of a day, above the bars, where they cover nothing. */
export function DayFigures({ day, summary }: Props) {
  return (
    <div className={`${classes.figures} unbroken`} aria-hidden>
      {day ? <Figures day={day} /> : summary}
    </div>
  );
}

/** The day with the highest spend. */
export function summaryOf(daily: DayUsage[]): string {
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
