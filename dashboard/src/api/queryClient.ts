import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { ApiError } from './error';
import { sessionKey } from './session';

const RETRIES = 2;

/** Clears the session, so that `SessionGuard` asks the user to sign in again. */
function endSessionOn401(error: Error) {
  if (error instanceof ApiError && error.status === 401) queryClient.setQueryData(sessionKey, null);
}

export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: endSessionOn401 }),
  mutationCache: new MutationCache({ onError: endSessionOn401 }),
  defaultOptions: {
    queries: {
      // The offline detection of browsers is unreliable. The connection banner handles outages.
      networkMode: 'always',
      staleTime: 10_000,
      retry: (failures, error) => failures < RETRIES && error instanceof ApiError && error.isTransient,
      retryDelay: (failures, error) =>
        error instanceof ApiError && error.retryAfter ? error.retryAfter * 1000 : 500 * 2 ** failures,
    },
    mutations: { networkMode: 'always', retry: false },
  },
});
