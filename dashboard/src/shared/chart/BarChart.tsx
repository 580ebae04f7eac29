import { type CSSProperties, type PointerEvent, useRef } from 'react';
import { useWidth } from '../useWidth';
import classes from './BarChart.module.css';
import { barLabels, WEEKDAYS_UP_TO } from './chartLabels';
import { valueAxis } from './valueAxis';

/** Bars of fewer pixels have no lines between their parts. */
const THIN = 8;

/** The left button of a mouse, or a finger. */
const PRIMARY = 0;

export interface BarPart {
  units: number;
  color: string;
}

export interface Bar {
  /** YYYY-MM-DD, or the Unix timestamp of an hour. */
  date: string;
  /** From the bottom to the top. */
  parts: BarPart[];
}

interface Props {
  bars: Bar[];
  /** The bars are the hours of this zone. Absent for days. */
  zone?: string;
  /** What the chart shows, for those who do not see it. */
  label: string;
  /** The name of this day is highlighted. */
  today?: string;
  /** The index of the bar that is highlighted. */
  pointed: number | undefined;
  /** Called with the bar below the pointer, or with nothing when the pointer leaves. */
  onPoint: (index: number | undefined) => void;
  /** Called with the bar that is clicked. A finger, which cannot hover, points at it first. */
  onOpen?: (index: number) => void;
}

/** Bars by day or hour with an axis of amounts, drawn with CSS. Pages that use it also show the figures as a table. */
export function BarChart({ bars, zone, label, today, pointed, onPoint, onOpen }: Props) {
  const { ref, width } = useWidth();
  const sums = bars.map(({ parts }) => parts.reduce((sum, { units }) => sum + units, 0));
  const most = Math.max(0, ...sums);
  const { top, ticks } = valueAxis(most);
  const barWidth = (width ?? 0) / bars.length;
  const labels = barLabels(bars.length, barWidth, most, today, zone);
  const hasDates = bars.length > WEEKDAYS_UP_TO || undefined;
  const style = (units: number) => ({ '--share': top > 0 ? units / top : 0 }) as CSSProperties;
  /** The bar that was pressed and opens when it is released. */
  const pressed = useRef<number>(undefined);

  function barAt({ clientX, currentTarget }: PointerEvent): number {
    const { left, width } = currentTarget.getBoundingClientRect();
    const index = Math.floor(((clientX - left) / width) * bars.length);
    return Math.min(Math.max(index, 0), bars.length - 1);
  }

  function press(event: PointerEvent) {
    const index = barAt(event);
    // A mouse has pointed at the bar, even if that is not rendered yet.
    const wasPointed = event.pointerType === 'mouse' || index === pointed;
    pressed.current = wasPointed && event.button === PRIMARY ? index : undefined;
    onPoint(index);
  }

  function release(event: PointerEvent) {
    const index = barAt(event);
    if (index === pressed.current) onOpen?.(index);
    pressed.current = undefined;
  }

  return (
    <div role="img" aria-label={label} className={classes.chart}>
      <div className={classes.axis}>
        {ticks.map((tick) => (
          <span key={tick.units} className={classes.tick} style={style(tick.units)}>
            {tick.label}
          </span>
        ))}
      </div>
      <div
        ref={ref}
        className={classes.plot}
        data-dates={hasDates}
        data-thin={barWidth < THIN || undefined}
        data-opens={onOpen !== undefined || undefined}
        onPointerMove={(event) => onPoint(barAt(event))}
        onPointerDown={press}
        onPointerUp={release}
        onPointerLeave={({ pointerType }) => pointerType === 'mouse' && onPoint(undefined)}
      >
        {ticks.map(({ units }) => (
          <div key={units} className={classes.line} style={style(units)} />
        ))}
        {bars.map(({ date, parts }, index) => {
          const sum = sums[index] ?? 0;
          return (
            <div key={date} className={classes.bar} data-pointed={index === pointed || undefined}>
              {labels.value && sum > 0 && <span className={classes.value}>{labels.value(sum)}</span>}
              <div className={classes.stack} style={style(sum)} data-some={sum > 0 || undefined}>
                {parts.map(({ units, color }) =>
                  units > 0 ? (
                    <div key={color} className={classes.part} style={partStyle(units, color)} />
                  ) : null,
                )}
              </div>
            </div>
          );
        })}
      </div>
      <div className={classes.names} data-dates={hasDates}>
        {bars.map(({ date }, index) => (
          <span key={date} className={classes.name} data-today={date === today || undefined}>
            {labels.name(date, index)}
          </span>
        ))}
      </div>
    </div>
  );
}

function partStyle(units: number, background: string): CSSProperties {
  return { '--units': units, background } as CSSProperties;
}
