import { Text, type TextProps, Tooltip } from '@mantine/core';
import { formatInteger } from '../format/locale';
import { formatUsd, formatUsdExact } from '../format/money';
import { texts } from '../texts';

interface Props extends TextProps {
  units: number;
  /** Replaces the amount. */
  text?: string;
}

/** Quota units in dollars, to the cent. The tooltip shows the exact amount and the units. */
export function Money({ units, text, ...props }: Props) {
  return (
    <Tooltip label={`${formatUsdExact(units)} = ${texts.common.units(formatInteger(units))}`}>
      <Text span inherit className="tabular" {...props}>
        {text ?? formatUsd(units)}
      </Text>
    </Tooltip>
  );
}
