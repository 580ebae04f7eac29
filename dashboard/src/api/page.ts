export const PAGE_SIZE = 20;

/** A page of a list (specification, section 2.2). */
export interface Page<Item> {
  items: Item[];
  total: number;
}

/** Query parameters for a page. Pages start at 0. */
export function pageParams(page: number) {
  return { p: String(page), size: String(PAGE_SIZE) };
}
