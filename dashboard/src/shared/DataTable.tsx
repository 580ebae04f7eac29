import { Paper } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { DataCards } from './DataCards';
import { DataGrid } from './DataGrid';

export interface Column<Row> {
  key: string;
  /** May be left out for `actions`: they are named for who does not see them. */
  header?: ReactNode;
  cell: (row: Row) => ReactNode;
  align?: 'right';
  width?: number | string;
  /**
   * Where it stands on a phone: `title` heads the card with `select` before it and `corner` (a status,
   * a switch) at its end, `actions` close it; all others are lines with their header before them.
   */
  place?: 'select' | 'title' | 'corner' | 'actions';
}

export interface DataProps<Row> {
  /** Names the table for who does not see the page around it. */
  label: string;
  columns: Column<Row>[];
  /** Absent while loading: skeletons stand in. */
  rows: Row[] | undefined;
  rowKey: (row: Row) => number | string;
}

interface Props<Row> extends DataProps<Row> {
  /** In place of no rows. */
  empty: ReactNode;
}

/** A table; on a phone a list of cards. */
export function DataTable<Row>({ empty, ...props }: Props<Row>) {
  const isPhone = useMediaQuery('(max-width: 48em)', undefined, { getInitialValueInEffect: false });
  if (props.rows?.length === 0) return <Paper p={0}>{empty}</Paper>;
  return isPhone ? <DataCards {...props} /> : <DataGrid {...props} />;
}
