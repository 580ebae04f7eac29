import { Text, type TextProps, Tooltip } from '@mantine/core';
import { formatInteger } from '../format/locale';
import { formatChange, formatUsd, formatUsdExact } from '../format/money';
import { texts } from '../texts';

export interface MoneyProps extends TextProps {
  units: number;
  /** With its sign: "+$1.50". */
  change?: boolean;
}

/** Quota units in dollars, to the cent. The tooltip shows the exact amount and the units. */
export function Money({ units, change = false, ...props }: MoneyProps) {
  return (
    <Tooltip label={`${formatUsdExact(units)} = ${texts.common.units(formatInteger(units))}`}>
      <Text span inherit className="tabular" {...props}>
        {change ? formatChange(units) : formatUsd(units)}
      </Text>
    </Tooltip>
  );
}
