import { Paper } from '@mantine/core';
import type { ReactNode } from 'react';
import { DataCards } from './DataCards';
import { DataGrid } from './DataGrid';
import type { ColumnSort } from './SortHeader';
import { useIsNarrow } from './useIsNarrow';

/** The least width of a table, in rem. */
export const TABLE_WIDTH = 40;

export interface Column<Row> {
  key: string;
  /** Absent for actions, which have a hidden header and stay in view when the table scrolls. */
  header?: ReactNode;
  /** In a table, the header sorts the rows. */
  sort?: ColumnSort;
  cell: (row: Row) => ReactNode;
  /** In a card, it explains itself and takes a whole line, as a bar does. */
  wide?: boolean;
  align?: 'right';
  width?: number | string;
  /**
   * The place of the cell in a card: `select`, `title` and `corner` form the first line, `actions` the last.
   * Cells without a place are lines with their header.
   */
  place?: 'select' | 'title' | 'corner' | 'actions';
  /** The column is left out of rows for which this is false, because it would say the same in each. */
  onlyIf?: (rows: Row[]) => boolean;
}

export interface DataProps<Row> {
  /** The accessible name of the table. */
  label: string;
  columns: Column<Row>[];
  /** Absent while loading. Skeletons are shown instead. */
  rows: Row[] | undefined;
  rowKey: (row: Row) => number | string;
  /** The page of a row. A click beside its controls opens it. */
  rowHref?: (row: Row) => string;
}

export interface TableProps<Row> extends DataProps<Row> {
  /** Shown if there are no rows. */
  empty: ReactNode;
  /** Shown above cards, which have no column headers. */
  cardsHeader?: ReactNode;
}

/** A table, or a list of cards where there is no room for a table. */
export function DataTable<Row>({ empty, cardsHeader, columns, ...data }: TableProps<Row>) {
  const { ref, isNarrow } = useIsNarrow(TABLE_WIDTH);
  const props = { ...data, columns: columns.filter(({ onlyIf }) => onlyIf?.(data.rows ?? []) ?? true) };
  return <div ref={ref}>{content()}</div>;

  function content() {
    if (props.rows?.length === 0) return <Paper p={0}>{empty}</Paper>;
    if (isNarrow === undefined) return null;
    if (!isNarrow) return <DataGrid {...props} />;
    return (
      <>
        {cardsHeader}
        <DataCards {...props} />
      </>
    );
  }
}
