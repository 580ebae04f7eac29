import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { ApiError } from './error';
import { sessionKey } from './session';

const RETRIES = 2;

/** Whoever is no longer signed in has no session; the guard of the routes then leads to the sign-in page. */
function endSessionOn401(error: Error) {
  if (error instanceof ApiError && error.status === 401) queryClient.setQueryData(sessionKey, null);
}

export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: endSessionOn401 }),
  mutationCache: new MutationCache({ onError: endSessionOn401 }),
  defaultOptions: {
    queries: {
      // The browser's idea of being offline is often wrong; the connection banner knows better.
      networkMode: 'always',
      staleTime: 10_000,
      retry: (failures, error) => failures < RETRIES && error instanceof ApiError && error.isTransient,
      retryDelay: (failures, error) =>
        error instanceof ApiError && error.retryAfter ? error.retryAfter * 1000 : 500 * 2 ** failures,
    },
    mutations: { networkMode: 'always', retry: false },
  },
});
