import { UnstyledButton } from '@mantine/core';
import { IconArrowDown, IconArrowsSort, IconArrowUp } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import classes from './DataTable.module.css';

export interface ColumnSort {
  /** Absent if the rows are not sorted by this column. */
  direction: 'ascending' | 'descending' | undefined;
  /** Sorts by this column, or in the other direction. */
  onSort: () => void;
}

const icons = { ascending: IconArrowUp, descending: IconArrowDown };

/** The header of a column by which the rows can be sorted. The cell around it has `aria-sort`. */
export function SortHeader({ sort, children }: { sort: ColumnSort; children: ReactNode }) {
  const Icon = sort.direction ? icons[sort.direction] : IconArrowsSort;
  return (
    <UnstyledButton
      className={classes.sort}
      data-sorted={sort.direction !== undefined || undefined}
      onClick={sort.onSort}
    >
      {children}
      <Icon size={14} stroke={1.8} aria-hidden />
    </UnstyledButton>
  );
}
