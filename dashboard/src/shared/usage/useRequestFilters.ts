import { useSearchParams } from 'wouter';
import { type RequestFilters, readFilters } from './requestFilters';

/** The filters of a list of requests, kept in the query string. */
export function useRequestFilters() {
  const [params, setParams] = useSearchParams();
  function onFilter(change: Partial<RequestFilters>) {
    setParams(
      (current) => {
        const next = new URLSearchParams(current);
        for (const [name, value] of Object.entries(change)) {
          if (value) next.set(name, value);
          else next.delete(name);
        }
        return next;
      },
      { replace: true },
    );
  }
  return { filters: readFilters(params), onFilter };
}
