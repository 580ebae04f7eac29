import { formatUsdTick } from '../../format/compact';
import { UNITS_PER_USD } from '../../format/money';

const CENT = UNITS_PER_USD / 100;
const MAX_STEPS = 4;

export interface Tick {
  units: number;
  label: string;
}

/** The lines of a chart up to the amount `most`: at most four steps of 1, 2 or 5 times a power of ten, in whole cents. */
export function valueAxis(most: number): { top: number; ticks: Tick[] } {
  const step = roundStep(most / MAX_STEPS);
  const count = Math.ceil(most / step);
  const ticks = Array.from({ length: count + 1 }, (_, index) => index * step);
  return {
    top: count * step,
    ticks: ticks.map((units) => ({ units, label: formatUsdTick(units, step) })),
  };
}

/** The smallest round step of at least so many units. */
function roundStep(units: number): number {
  const cents = Math.max(1, units / CENT);
  const power = 10 ** Math.floor(Math.log10(cents));
  const round = [1, 2, 5, 10].find((each) => each * power >= cents) ?? 10;
  return round * power * CENT;
}
