import { Button } from '@mantine/core';
import type { Price } from '../../api/prices';
import type { Column } from '../../shared/DataTable';
import { texts } from '../../texts';
import { ModelCell } from './ModelCell';
import { OtherRates, RateCell } from './RateCells';
import { RATE_COLUMNS, type RateColumn } from './rates';

const words = texts.prices;

/** The same columns on each page of the list. `onCalculate` fills the calculator in. */
export function priceColumns(onCalculate: (price: Price) => void): Column<Price>[] {
  return [
    {
      key: 'model',
      header: words.columns.model,
      place: 'title',
      cell: (price) => <ModelCell price={price} />,
    },
    ...(Object.keys(RATE_COLUMNS) as RateColumn[]).map(
      (column): Column<Price> => ({
        key: column,
        header: words.columns[column],
        align: 'right',
        cell: (price) => <RateCell price={price} column={column} />,
      }),
    ),
    { key: 'other', header: words.columns.other, cell: (price) => <OtherRates price={price} /> },
    {
      key: 'actions',
      place: 'actions',
      align: 'right',
      cell: (price) => (
        <Button
          variant="default"
          size="xs"
          aria-label={words.calculator.ofModel(price.model)}
          onClick={() => onCalculate(price)}
        >
          {words.calculator.ofRow}
        </Button>
      ),
    },
  ];
}
