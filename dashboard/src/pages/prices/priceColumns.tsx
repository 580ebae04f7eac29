import { Text } from '@mantine/core';
import type { Price } from '../../api/prices';
import { formatInteger } from '../../format/locale';
import { formatRate } from '../../format/rate';
import type { Column } from '../../shared/DataTable';
import { texts } from '../../texts';
import { type PriceRow, usefulRates } from './priceRows';

const words = texts.prices.columns;

/** The same columns on each page of the list: those that say something about one of all prices. */
export function priceColumns(prices: Price[]): Column<PriceRow>[] {
  return [
    model,
    ...usefulRates(prices).map(
      (name): Column<PriceRow> => ({
        key: name,
        header: words[name],
        align: 'right',
        cell: (row) => <span className="tabular">{formatRate(row[name])}</span>,
      }),
    ),
  ];
}

const model: Column<PriceRow> = {
  key: 'model',
  header: words.model,
  place: 'title',
  cell: ({ model: name, prompts }) => (
    // Whole names: many begin alike, and their ends tell them apart.
    <div style={{ minWidth: '12rem', overflowWrap: 'anywhere' }}>
      <Text size="sm" fw={600}>
        {name}
      </Text>
      {prompts && (
        <Text size="xs" c="dimmed">
          {words.prompts[prompts.of](formatInteger(prompts.tokens))}
        </Text>
      )}
    </div>
  ),
};
