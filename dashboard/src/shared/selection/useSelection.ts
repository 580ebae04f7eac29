import { useRef, useState } from 'react';
import { rangeOf, type Selected, withRows } from './selected';

/** The selected rows of a list. They stay selected when the list shows another page. */
export interface Selection<Row> {
  rows: Row[];
  /** How many of them the list does not show. */
  elsewhere: number;
  /** The list shows nothing to select, or nothing yet. */
  nothingShown: boolean;
  /** All shown rows are selected. */
  all: boolean;
  /** Some shown rows are selected. */
  some: boolean;
  /** Whether the row can be selected. */
  offers: (row: Row) => boolean;
  has: (row: Row) => boolean;
  /** With `extend`, also changes the rows between this one and the one changed before. */
  toggle: (row: Row, extend: boolean) => void;
  toggleAll: () => void;
  /** Deselects these rows. */
  remove: (rows: Row[]) => void;
  clear: () => void;
}

/** `shown` are the rows that can be selected, of those that the list shows. */
export function useSelection<Row extends { id: number }>(shown: Row[]): Selection<Row> {
  const [selected, setSelected] = useState<Selected<Row>>(new Map());
  const anchor = useRef<number>(undefined);
  const shownSelected = shown.filter(({ id }) => selected.has(id));
  // The list has the present state of the rows that it shows.
  const current = new Map(shownSelected.map((row) => [row.id, row]));
  const all = shown.length > 0 && shownSelected.length === shown.length;
  return {
    rows: [...selected.values()].map((row) => current.get(row.id) ?? row),
    elsewhere: selected.size - shownSelected.length,
    nothingShown: shown.length === 0,
    all,
    some: shownSelected.length > 0,
    offers: ({ id }) => shown.some((row) => row.id === id),
    has: ({ id }) => selected.has(id),
    toggle: (row, extend) => {
      const changed = extend ? rangeOf(shown, anchor.current, row) : [row];
      anchor.current = row.id;
      setSelected(withRows(selected, changed, !selected.has(row.id)));
    },
    toggleAll: () => setSelected(withRows(selected, shown, !all)),
    remove: (rows) => setSelected((before) => withRows(before, rows, false)),
    clear: () => setSelected(new Map()),
  };
}
