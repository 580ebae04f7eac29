import { Paper } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { DataCards } from './DataCards';
import { DataGrid } from './DataGrid';
import type { ColumnSort } from './SortHeader';
import { useWidth } from './useWidth';

/** No table is narrower, in rem. */
const TABLE_WIDTH = 40;

export interface Column<Row> {
  key: string;
  /** Absent for actions, which have a hidden header. */
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

/** A table, or a list of cards where the table would be wider than the place that it has. */
export function DataTable<Row>({ empty, cardsHeader, columns, ...data }: TableProps<Row>) {
  const { ref, width } = useWidth();
  const first = data.rows?.[0] && data.rowKey(data.rows[0]);
  // From which width on a table of these rows is tried. Those of another page or search may need less.
  const [tried, setTried] = useState({ first, least: 0 });
  const least = Math.max(TABLE_WIDTH * rootFontSize(), tried.first === first ? tried.least : 0);
  const props = { ...data, columns: columns.filter(({ onlyIf }) => onlyIf?.(data.rows ?? []) ?? true) };
  return <div ref={ref}>{content()}</div>;

  function content() {
    if (props.rows?.length === 0) return <Paper p={0}>{empty}</Paper>;
    if (width === undefined) return null;
    if (width >= least) return <DataGrid {...props} onTooWide={onTooWide} />;
    return (
      <>
        {cardsHeader}
        <DataCards {...props} />
      </>
    );
  }

  // While a window becomes narrower, the grid may know it before `width` does. Then it is drawn, and says so, again.
  function onTooWide(needed: number) {
    setTried((last) => (last.first === first && last.least === needed ? last : { first, least: needed }));
  }
}

function rootFontSize(): number {
  return Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
}
