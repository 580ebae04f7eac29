import { Checkbox } from '@mantine/core';
import type { ChangeEvent } from 'react';
import type { Column } from '../DataTable';
import type { Selection } from './useSelection';

interface Words {
  /** Selects the row with this name. */
  one: (name: string) => string;
  /** Selects all rows of the page. */
  page: string;
}

export function selectColumn<Row>(
  selection: Selection<Row>,
  words: Words,
  nameOf: (row: Row) => string,
): Column<Row> {
  return {
    key: 'select',
    place: 'select',
    width: 44,
    header: <SelectAll selection={selection} hiddenLabel={words.page} />,
    cell: (row) => (
      <Checkbox
        aria-label={words.one(nameOf(row))}
        disabled={!selection.offers(row)}
        checked={selection.has(row)}
        onChange={(event) => selection.toggle(row, isWithShift(event))}
      />
    ),
  };
}

interface SelectAllProps<Row> {
  selection: Selection<Row>;
  label?: string;
  hiddenLabel?: string;
}

export function SelectAll<Row>({ selection, label, hiddenLabel }: SelectAllProps<Row>) {
  return (
    <Checkbox
      label={label}
      aria-label={hiddenLabel}
      disabled={selection.nothingShown}
      checked={selection.all}
      indeterminate={selection.some && !selection.all}
      onChange={selection.toggleAll}
    />
  );
}

/** React reports the click on a checkbox as its change. */
function isWithShift({ nativeEvent }: ChangeEvent): boolean {
  return nativeEvent instanceof MouseEvent && nativeEvent.shiftKey;
}
