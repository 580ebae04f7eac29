import { formatUsdTick } from '../../format/compact';
import { UNITS_PER_USD } from '../../format/money';

const MICROS_PER_USD = 1_000_000;
const MAX_STEPS = 4;

export interface Tick {
  units: number;
  label: string;
}

/** The lines of a chart up to the amount `most`: at most four steps of 1, 2 or 5 times a power of ten. */
export function valueAxis(most: number): { top: number; ticks: Tick[] } {
  const step = roundStep(most / MAX_STEPS);
  const count = Math.ceil(most / step);
  const top = count * step;
  const ticks = Array.from({ length: count + 1 }, (_, index) => index * step);
  return {
    top,
    ticks: ticks.map((units) => ({ units, label: formatUsdTick(units, step, top) })),
  };
}

/** The smallest round step of at least so many units, and of one unit, the smallest amount. */
function roundStep(units: number): number {
  const micros = Math.max(MICROS_PER_USD / UNITS_PER_USD, (units / UNITS_PER_USD) * MICROS_PER_USD);
  const power = 10 ** Math.floor(Math.log10(micros));
  const round = [1, 2, 5, 10].find((each) => each * power >= micros) ?? 10;
  return (round * power * UNITS_PER_USD) / MICROS_PER_USD;
}
