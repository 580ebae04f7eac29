import { Text, type TextProps, Tooltip } from '@mantine/core';
import { formatInteger, formatUsd, formatUsdExact } from '../format/money';
import { texts } from '../texts';

interface Props extends TextProps {
  units: number;
}

/** Quota units in dollars, to the cent. The tooltip shows the exact amount and the units. */
export function Money({ units, ...props }: Props) {
  return (
    <Tooltip label={`${formatUsdExact(units)} = ${texts.common.units(formatInteger(units))}`}>
      <Text span inherit className="tabular" {...props}>
        {formatUsd(units)}
      </Text>
    </Tooltip>
  );
}
