import { useSearchParams } from 'wouter';
import { withFilters } from './listQuery';

/** One of a few values, kept in the query string. The first one is the default, which is left out of it. */
export function useQueryChoice<Value extends string>(name: string, values: readonly [Value, ...Value[]]) {
  const [params, setParams] = useSearchParams();
  const value = values.find((each) => each === params.get(name)) ?? values[0];
  const setValue = (next: Value) => {
    const text = next === values[0] ? '' : next;
    setParams((current) => withFilters(current, { [name]: text }), { replace: true });
  };
  return [value, setValue] as const;
}
