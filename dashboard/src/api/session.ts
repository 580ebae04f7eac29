import { type QueryClient, queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import { api, call } from './client';
import { ApiError } from './error';
import type { components } from './schema';

export type User = components['schemas']['UserBody'];

export const sessionKey = ['session'] as const;

const ADMINISTRATOR = 10;

export function isAdministrator(user: Pick<User, 'role'>): boolean {
  return user.role >= ADMINISTRATOR;
}

export const sessionQuery = queryOptions({
  queryKey: sessionKey,
  queryFn: async ({ signal }): Promise<User | null> => {
    try {
      return await call(api.GET('/api/user/self', { signal }));
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) return null;
      throw error;
    }
  },
});

/** The signed-in user. `data` is `null` if nobody is signed in. */
export function useSession() {
  return useQuery(sessionQuery);
}

/** The signed-in user, for components inside `SessionGuard`. */
export function useUser(): User {
  const { data } = useSession();
  if (!data) throw new Error('useUser is for pages behind the guard');
  return data;
}

/** Replaces the session and drops all cached data, so that the next user does not see it. */
function replaceSession(client: QueryClient, user: User | null) {
  client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionKey[0] });
  client.setQueryData(sessionKey, user);
}

export function useSignIn() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: { username: string; password: string }) => call(api.POST('/api/user/login', { body })),
    onSuccess: (user) => replaceSession(client, user),
  });
}

export function useRegister() {
  return useMutation({
    mutationFn: (body: components['schemas']['RegisterBody']) =>
      call(api.POST('/api/user/register', { body })),
  });
}

export function useSignOut() {
  const client = useQueryClient();
  const [, navigate] = useLocation();
  return useMutation({
    mutationFn: () => call(api.POST('/api/user/logout')),
    onSuccess: () => {
      replaceSession(client, null);
      // The guard would add `?next=` with the current page, which the next user may not have.
      navigate('/sign-in');
    },
  });
}
