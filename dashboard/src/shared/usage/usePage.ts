import { useState } from 'react';

/** The page of a table, which starts at 0 again for other rows. `rows` says which ones these are. */
export function usePage(rows: unknown) {
  const of = JSON.stringify(rows);
  const [chosen, setChosen] = useState({ of, page: 0 });
  const page = chosen.of === of ? chosen.page : 0;
  return [page, (next: number) => setChosen({ of, page: next })] as const;
}
