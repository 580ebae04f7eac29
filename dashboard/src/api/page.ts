export const PAGE_SIZE = 20;

/** A page of a list (specification, section 2.2). */
export interface Page<Item> {
  items: Item[];
  total: number;
}

/** A page in the body of a request. Pages start at 0 here. With `page_size` the API counts from 1, whatever its settings. */
export function pageBody(page: number, size = PAGE_SIZE) {
  return { p: page + 1, page_size: size };
}

/** Query parameters for a page, which starts at 0. */
export function pageParams(page: number, size = PAGE_SIZE) {
  const { p, page_size } = pageBody(page, size);
  return { p: String(p), page_size: String(page_size) };
}
