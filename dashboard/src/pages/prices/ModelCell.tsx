import { Group, Text } from '@mantine/core';
import type { Price, Rate } from '../../api/prices';
import { formatList } from '../../format/list';
import { formatRate } from '../../format/rate';
import { ToneBadge } from '../../shared/ToneBadge';
import { texts } from '../../texts';
import classes from './Prices.module.css';
import { Tiers } from './RateCells';
import { columnOf, inOrder, RATE_COLUMNS } from './rates';
import { contextText, ratePerUnit } from './units';

const words = texts.prices;

/** The name of a model, whose price it has, and its rates in other contexts. */
export function ModelCell({ price }: { price: Price }) {
  const { model, provider, own, variants } = price;
  return (
    <div className={classes.model}>
      <Group gap="xs">
        <Text size="sm" fw={600}>
          {model}
        </Text>
        {own && <ToneBadge tone="info">{words.ownPrice}</ToneBadge>}
      </Group>
      {provider && (
        <Text size="xs" c="dimmed">
          {own ? words.priceOf(provider) : provider}
        </Text>
      )}
      {variants.length > 0 && <Variants variants={variants} />}
    </div>
  );
}

function Variants({ variants }: Pick<Price, 'variants'>) {
  const values = variants.flatMap(({ when }) => Object.values(when).flatMap((value) => value ?? []));
  return (
    <details className={classes.variants}>
      <summary>{words.also(formatList([...new Set(values)]))}</summary>
      {variants.map(({ when, rates }) => {
        const name = formatList(contextText(when));
        return (
          <div key={name}>
            <Text size="xs" fw={600} mt={4}>
              {name}
            </Text>
            {inOrder(rates).map((rate) => (
              <div key={rate.unit}>
                <Text size="xs">{variantRate(rate)}</Text>
                <Tiers rate={rate} />
              </div>
            ))}
          </div>
        );
      })}
    </details>
  );
}

/** A rate of a column by the name of the column. */
function variantRate(rate: Rate): string {
  const column = columnOf(rate);
  return column && rate.unit === RATE_COLUMNS[column][0]
    ? texts.common.labelled(words.columns[column], formatRate(rate.usd))
    : ratePerUnit(rate);
}
