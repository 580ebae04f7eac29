/** What the lists of the administration have in common. */
export const adminLists = {
  keywordTooShort: 'Type at least 2 characters.',
  nobodyFound: 'Nobody found',
  clearChoice: 'Clear the choice',
  userNumber: (id: number) => `User ${id}`,
  pastTheEnd: { title: 'There is nothing on this page any more.', first: 'Go to the first page' },
  noMatch: { title: 'Nothing found', hint: 'Nothing fits these filters.', clear: 'Clear the filters' },
};
