import { expect, it } from 'vitest';
import type { Sorting } from '../api/tokenListing';
import { sortBy } from './tokenColumns';

it('sorts in one order, in the other, and in neither', () => {
  let sorting: Sorting = 'most_used';
  const byName = () => sortBy({ sorting, onSort: (next) => (sorting = next) }, 'name', 'name_desc');
  const seen: unknown[] = [byName().direction];
  for (let click = 0; click < 3; click += 1) {
    byName().onSort();
    seen.push(sorting, byName().direction);
  }
  expect(seen).toEqual([undefined, 'name', 'ascending', 'name_desc', 'descending', 'newest', undefined]);
});
