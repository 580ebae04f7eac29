/** The filters and the page of a list. In the query string, pages start at 1. */
export interface ListQuery<Name extends string> {
  /** Empty if not set. */
  filters: Record<Name, string>;
  /** Starts at 0, as in the API. */
  page: number;
}

export function readListQuery<Name extends string>(
  params: URLSearchParams,
  names: readonly Name[],
): ListQuery<Name> {
  const filters = Object.fromEntries(names.map((name) => [name, params.get(name) ?? '']));
  const page = params.get('page') ?? '';
  return {
    filters: filters as Record<Name, string>,
    page: /^[1-9]\d{0,8}$/.test(page) ? Number(page) - 1 : 0,
  };
}

/** Changes filters and returns to the first page. */
export function withFilters(params: URLSearchParams, change: Record<string, string>): URLSearchParams {
  const next = new URLSearchParams(params);
  next.delete('page');
  for (const [name, value] of Object.entries(change)) {
    if (value) next.set(name, value);
    else next.delete(name);
  }
  return next;
}

export function withPage(params: URLSearchParams, page: number): URLSearchParams {
  const next = new URLSearchParams(params);
  if (page > 0) next.set('page', String(page + 1));
  else next.delete('page');
  return next;
}

/** The URL of a list with these filters. */
export function listHref(path: string, filters: Record<string, string | number>): string {
  return `${path}?${new URLSearchParams(Object.entries(filters).map(([name, value]) => [name, String(value)]))}`;
}
