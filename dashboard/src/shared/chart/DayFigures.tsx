import type { DayUsage } from '../../api/dailyUsage';
import { formatCompact } from '../../format/compact';
import { formatUsd } from '../../format/money';
import { unitsOf } from '../../format/usage';
import { texts } from '../../texts';
import { barName } from './barName';
import classes from './DayFigures.module.css';

const words = texts.common.spendChart;

interface Props {
  /** The day or hour below the pointer. */
  day: DayUsage | undefined;
  /** Of hours. Absent for days. */
  zone: string | undefined;
  /** Shown if there is none. */
  summary: string;
}

/** The figures of a day or hour, above the bars, where they cover nothing. */
export function DayFigures({ day, zone, summary }: Props) {
  return (
    <div className={`${classes.figures} unbroken`} aria-hidden>
      {day ? <Figures day={day} zone={zone} /> : summary}
    </div>
  );
}

/** The day or hour with the highest spend. */
export function summaryOf(daily: DayUsage[], zone: string | undefined): string {
  const most = daily.reduce<DayUsage | undefined>(
    (top, day) => (day.usd > (top?.usd ?? 0) ? day : top),
    undefined,
  );
  if (!most) return words.nothing;
  const highest = zone === undefined ? words.highest : words.highestAt;
  return highest(formatUsd(unitsOf(most.usd)), barName(most.date, zone));
}

function Figures({ day, zone }: { day: DayUsage; zone: string | undefined }) {
  return (
    <>
      <strong>{texts.common.labelled(barName(day.date, zone), formatUsd(unitsOf(day.usd)))}</strong> ·{' '}
      {words.requests(day.requests)} ·{' '}
      {words.tokens(formatCompact(day.prompt_tokens), formatCompact(day.completion_tokens))}
    </>
  );
}
