import { Paper } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { DataCards } from './DataCards';
import { DataGrid } from './DataGrid';

export interface Column<Row> {
  key: string;
  /** Optional for `actions`, which have a hidden header. */
  header?: ReactNode;
  cell: (row: Row) => ReactNode;
  align?: 'right';
  width?: number | string;
  /**
   * The place of the cell in a card on phones: `select`, `title` and `corner` form the first line, `actions` the last.
   * Cells without a place are lines with their header.
   */
  place?: 'select' | 'title' | 'corner' | 'actions';
}

export interface DataProps<Row> {
  /** The accessible name of the table. */
  label: string;
  columns: Column<Row>[];
  /** Absent while loading. Skeletons are shown instead. */
  rows: Row[] | undefined;
  rowKey: (row: Row) => number | string;
}

interface Props<Row> extends DataProps<Row> {
  /** Shown if there are no rows. */
  empty: ReactNode;
}

/** A table, or a list of cards on phones. */
export function DataTable<Row>({ empty, ...props }: Props<Row>) {
  const isPhone = useMediaQuery('(max-width: 48em)', undefined, { getInitialValueInEffect: false });
  if (props.rows?.length === 0) return <Paper p={0}>{empty}</Paper>;
  return isPhone ? <DataCards {...props} /> : <DataGrid {...props} />;
}
