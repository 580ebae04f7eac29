import { useSearchParams } from 'wouter';
import { withFilters } from '../listQuery';
import { type RequestFilters, readFilters } from './requestFilters';

/** The filters of a list of requests, kept in the query string. */
export function useRequestFilters() {
  const [params, setParams] = useSearchParams();
  const onFilter = (change: Partial<RequestFilters>) =>
    setParams((current) => withFilters(current, change), { replace: true });
  return { filters: readFilters(params), onFilter };
}
