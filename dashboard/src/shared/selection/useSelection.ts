import { useRef, useState } from 'react';
import { rangeOf, type Selected, withRows } from './selected';

/** All rows that the filters of a list match, also those that it does not show. */
export interface Matching {
  /** Says which filters. */
  key: string;
  total: number;
  /** The list still shows rows of other filters, and `total` may be theirs. */
  isOutdated?: boolean;
}

/** The selected rows of a list. They stay selected when the list shows another page. */
export interface Selection<Row> {
  /** Also while all that match are selected, the rows that were selected one by one. */
  rows: Row[];
  /** How many are selected. */
  count: number;
  /** All rows that the filters match are selected, until the filters change. */
  allMatching: boolean;
  /** How many match, where they can be selected at once. */
  offered: number | undefined;
  selectMatching: () => void;
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

/** `shown` are the rows that can be selected, of those that the list shows. `matching` are all of the list, if known. */
export function useSelection<Row extends { id: number }>(shown: Row[], matching?: Matching): Selection<Row> {
  const [selected, setSelected] = useState<Selected<Row>>(new Map());
  /** The filters of which all rows are selected. */
  const [filters, setFilters] = useState<Matching>();
  const anchor = useRef<number>(undefined);

  function select(rows: Selected<Row>) {
    setFilters(undefined);
    setSelected(rows);
  }

  // Other filters match other rows, of which nobody has said anything.
  if (filters !== undefined && filters.key !== matching?.key) select(new Map());

  const allMatching = filters !== undefined && filters.key === matching?.key;
  const shownSelected = allMatching ? shown : shown.filter(({ id }) => selected.has(id));
  // The list has the present state of the rows that it shows.
  const current = new Map(shownSelected.map((row) => [row.id, row]));
  const all = shown.length > 0 && shownSelected.length === shown.length;
  const isOffered =
    matching !== undefined && !matching.isOutdated && all && !allMatching && matching.total > shown.length;
  const has = ({ id }: Row) => allMatching || selected.has(id);
  return {
    rows: [...selected.values()].map((row) => current.get(row.id) ?? row),
    count: allMatching ? (matching.isOutdated ? filters : matching).total : selected.size,
    allMatching,
    offered: isOffered ? matching.total : undefined,
    selectMatching: () => setFilters(matching),
    elsewhere: allMatching ? 0 : selected.size - shownSelected.length,
    nothingShown: shown.length === 0,
    all,
    some: shownSelected.length > 0,
    offers: ({ id }) => shown.some((row) => row.id === id),
    has,
    toggle: (row, extend) => {
      const changed = extend ? rangeOf(shown, anchor.current, row) : [row];
      anchor.current = row.id;
      const before = allMatching ? withRows(new Map(), shown, true) : selected;
      select(withRows(before, changed, !has(row)));
    },
    toggleAll: () => select(withRows(allMatching ? new Map() : selected, shown, !all)),
    remove: (rows) => setSelected((before) => withRows(before, rows, false)),
    clear: () => select(new Map()),
  };
}
