import type { CostLine } from '../../api/prices';
import { formatCount, formatRate } from '../../format/rate';
import { joined } from '../../format/space';
import { texts } from '../../texts';
import { perText, unitName } from './units';

const words = texts.prices.calculator;

/** A part of a cost: "1,000 input tokens × $5.00 per million = $0.005". */
export function lineText({ count, unit, rate, per, usd }: CostLine): string {
  const price = per === 1 ? formatRate(rate) : words.ratePer(formatRate(rate), perText(per));
  return words.line(joined(formatCount(count), unitName(unit)), price, formatRate(usd));
}
