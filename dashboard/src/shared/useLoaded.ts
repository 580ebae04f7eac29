import { useEffect, useState } from 'react';

/** A module that is loaded when it is first needed. `load` must be the same function in every render. */
export function useLoaded<Module>(load: () => Promise<Module>, isNeeded: boolean): Module | undefined {
  const [module, setModule] = useState<Module>();
  useEffect(() => {
    if (!isNeeded || module) return;
    load().then(
      (loaded) => setModule(() => loaded),
      (error: unknown) =>
        // For the error boundary of the page.
        setModule(() => {
          throw error;
        }),
    );
  }, [load, isNeeded, module]);
  return module;
}
