import { Text, type TextProps, Tooltip } from '@mantine/core';
import { formatInteger } from '../format/locale';
import { formatChange, formatUsd, formatUsdExact } from '../format/money';
import { texts } from '../texts';

export interface MoneyProps extends TextProps {
  units: number;
  /** With its sign: "+$1.50". */
  change?: boolean;
  /** Exact, as the cost of a single request. */
  fine?: boolean;
}

/** Quota units in dollars, to the cent, or exact below a cent. The tooltip shows the exact amount and the units. */
export function Money({ units, change, fine, ...props }: MoneyProps) {
  const format = change ? formatChange : fine ? formatUsdExact : formatUsd;
  return (
    <Tooltip label={`${formatUsdExact(units)} = ${texts.common.units(formatInteger(units))}`}>
      <Text span inherit className="tabular" {...props}>
        {format(units)}
      </Text>
    </Tooltip>
  );
}
