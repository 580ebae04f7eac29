/** Which tokens a list shows, and in which order. The server filters and sorts. */
export interface TokenListing {
  /** 1 to 4. Absent means all. */
  status: number | undefined;
  sorting: Sorting;
}

const sortings = {
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

/** The direction, if it sorts by one of these two. */
export function directionOf(sorting: Sorting, choices: [Sorting, Sorting]) {
  if (!choices.includes(sorting)) return undefined;
  return sortings[sorting].order === 'asc' ? 'ascending' : 'descending';
}

/** The parameters of the API for a list. */
export function listingQuery({ status, sorting }: TokenListing) {
  return { status: status?.toString(), ...sortings[sorting] };
}

/** The members of the body for a search. */
export function listingBody({ status, sorting }: TokenListing) {
  return { status, ...sortings[sorting] };
}

export function readStatus(text: string | null): number | undefined {
  return text !== null && /^[1-4]$/.test(text) ? Number(text) : undefined;
}
