import { useSearchParams } from 'wouter';
import { readListQuery, withFilters, withPage } from './listQuery';

/** The filters and the page of a list, kept in the query string. */
export function useListQuery<Name extends string>(names: readonly Name[]) {
  const [params, setParams] = useSearchParams();
  return {
    ...readListQuery(params, names),
    setFilters: (change: Partial<Record<Name, string>>) =>
      setParams((current) => withFilters(current, change as Record<string, string>), { replace: true }),
    setPage: (page: number) => {
      setParams((current) => withPage(current, page));
      window.scrollTo(0, 0);
    },
    /** Shows the same rows on another page, because pages have another size. */
    replacePage: (page: number) => setParams((current) => withPage(current, page), { replace: true }),
  };
}
