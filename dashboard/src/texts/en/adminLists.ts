import { limits } from '../../api/serverLimits';
/** Texts that the administration lists share. */
export const adminLists = {
  keywordTooShort: `Enter at least ${limits.search_characters} characters.`,
  alsoSearch: 'Search for the same in:',
  noUsers: 'No matching users',
  clearSelection: 'Clear selection',
  userNumber: (id: number) => `User ${id}`,
  keyNumber: (id: number) => `Key ${id}`,
  pageOutOfRange: { title: 'This page is empty', first: 'Go to the first page' },
  noMatches: { title: 'Nothing found', hint: 'Try other filters, or clear them.', clear: 'Clear filters' },
};
