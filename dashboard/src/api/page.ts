export const PAGE_SIZE = 20;

/** The Page object (spec §2.2). */
export interface Page<Item> {
  items: Item[];
  total: number;
}

/** How to ask for the page of this number, from 0. */
export function pageParams(page: number) {
  return { p: String(page), size: String(PAGE_SIZE) };
}
