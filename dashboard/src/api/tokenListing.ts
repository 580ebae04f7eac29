/** Which tokens a list shows, and in which order. The server filters and sorts. */
export interface TokenListing {
  /** Whether they work, and if not, why (`KeyState`). Absent means all. */
  state: string | undefined;
  /** A group, `auto`, or `own` for tokens without a group. Absent means all. */
  group?: string;
  sorting: Sorting;
}

export const sortings = {
  newest: { sort: 'id', order: 'desc' },
  oldest: { sort: 'id', order: 'asc' },
  name: { sort: 'name', order: 'asc' },
  name_desc: { sort: 'name', order: 'desc' },
  least_left: { sort: 'remain_quota', order: 'asc' },
  most_left: { sort: 'remain_quota', order: 'desc' },
  most_used: { sort: 'used_quota', order: 'desc' },
  last_used: { sort: 'accessed_time', order: 'desc' },
  longest_unused: { sort: 'accessed_time', order: 'asc' },
  expires_first: { sort: 'expired_time', order: 'asc' },
  expires_last: { sort: 'expired_time', order: 'desc' },
};

export type Sorting = keyof typeof sortings;

export const sortingNames = Object.keys(sortings) as Sorting[];
export const DEFAULT_SORTING: Sorting = 'newest';

export function readSorting(text: string | null): Sorting {
  return sortingNames.find((name) => name === text) ?? DEFAULT_SORTING;
}

/** The parameters of the API for a list, and the members of the body for a search. */
export function listingQuery({ state, group, sorting }: TokenListing) {
  return { state, group, ...sortings[sorting] };
}

/** A newer server may have more states than this dashboard has texts for. */
export function readState(text: string | null): string | undefined {
  return text !== null && /^[a-z_]+$/.test(text) ? text : undefined;
}
