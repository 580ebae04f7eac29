import type { ColumnSort } from './SortHeader';

/** The orders of a list by name, with their parameters of the API. */
type Orders<Name extends string> = Record<Name, { sort: string; order: string }>;

/** The order of a list, and what changes it. */
export interface ListSorting<Name extends string> {
  sorting: Name;
  onSort: (sorting: Name) => void;
}

/**
 * Makes the headers of a list sort: a click sorts in the first order, the next one in the second, and one more in neither,
 * which is `initial`.
 */
export function sortByOneOf<Name extends string>(orders: Orders<Name>, initial: Name) {
  return ({ sorting, onSort }: ListSorting<Name>, first: Name, second: Name): ColumnSort => {
    const isSorted = sorting === first || sorting === second;
    const next = sorting === first ? second : sorting === second ? initial : first;
    return {
      direction: isSorted ? (orders[sorting].order === 'asc' ? 'ascending' : 'descending') : undefined,
      onSort: () => onSort(next),
    };
  };
}
