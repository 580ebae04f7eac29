import { useSearchParams } from 'wouter';

/** One of a few values, kept in the query string. The first one is the default, which is left out of it. */
export function useQueryChoice<Value extends string>(name: string, values: readonly [Value, ...Value[]]) {
  const [params, setParams] = useSearchParams();
  const value = values.find((each) => each === params.get(name)) ?? values[0];
  const setValue = (next: Value) =>
    setParams(
      (current) => {
        const changed = new URLSearchParams(current);
        if (next === values[0]) changed.delete(name);
        else changed.set(name, next);
        return changed;
      },
      { replace: true },
    );
  return [value, setValue] as const;
}
