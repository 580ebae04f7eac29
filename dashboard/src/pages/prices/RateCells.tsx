import { Text } from '@mantine/core';
import type { Price, Rate } from '../../api/prices';
import { formatInteger } from '../../format/locale';
import { formatRate } from '../../format/rate';
import { texts } from '../../texts';
import { textOf } from '../../texts/textOf';
import classes from './Prices.module.css';
import { isAsInput, otherRates, type RateColumn, ratesIn } from './rates';
import { ratePerUnit } from './units';

const words = texts.prices;

/** The rates of a column for a million tokens. */
export function RateCell({ price, column }: { price: Price; column: RateColumn }) {
  if (isAsInput(price, column)) {
    return (
      <Text span size="sm" c="dimmed">
        –
      </Text>
    );
  }
  return ratesIn(price.rates, column).map((rate) => (
    <div
      key={rate.unit}
      className={`${classes.rate} tabular`}
      data-tiered={rate.tiers.length > 0 || undefined}
    >
      <KeptRate rate={rate} />
      <Tiers rate={rate} />
    </div>
  ));
}

/** A rate. Of caches, with how long they last if there is one for that. */
function KeptRate({ rate: { unit, usd } }: { rate: Rate }) {
  const kept = textOf(words.kept, unit);
  if (!kept) return formatRate(usd);
  return <Text size="xs">{texts.common.labelled(kept, formatRate(usd))}</Text>;
}

/** The rates that have no column, such as those of searches. */
export function OtherRates({ price }: { price: Price }) {
  const others = otherRates(price.rates);
  if (others.length === 0) return null;
  return (
    <ul className={classes.others}>
      {others.map((rate) => (
        <li key={rate.unit}>
          <Text size="xs">{ratePerUnit(rate)}</Text>
          <Tiers rate={rate} />
        </li>
      ))}
    </ul>
  );
}

/** The rates of requests with more input. */
export function Tiers({ rate }: { rate: Rate }) {
  return rate.tiers.map(({ start, usd }) => (
    <Text key={start} size="xs" c="dimmed">
      {words.above(formatInteger(start), formatRate(usd))}
    </Text>
  ));
}
