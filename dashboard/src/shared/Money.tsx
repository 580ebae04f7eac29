import { Text, type TextProps, Tooltip } from '@mantine/core';
import { formatInteger } from '../format/locale';
import { formatSpent, formatUsd, formatUsdExact } from '../format/money';
import { texts } from '../texts';

interface Props extends TextProps {
  units: number;
  /** The amount was spent, so it is rounded. What is left is never rounded up. */
  spent?: boolean;
  /** Replaces the amount. */
  text?: string;
}

/** Quota units in dollars, to the cent. The tooltip shows the exact amount and the units. */
export function Money({ units, spent, text, ...props }: Props) {
  return (
    <Tooltip label={`${formatUsdExact(units)} = ${texts.common.units(formatInteger(units))}`}>
      <Text span inherit className="tabular" {...props}>
        {text ?? (spent ? formatSpent(units) : formatUsd(units))}
      </Text>
    </Tooltip>
  );
}
