import { type QueryClient, queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, useContext } from 'react';
import { useLocation } from 'wouter';
import { texts } from '../texts';
import { api, call } from './client';
import { ApiError } from './error';
import type { components } from './schema';
import { roles } from './serverLimits';
import { statusQuery } from './status';

export type User = components['schemas']['UserBody'];
export type Role = components['schemas']['Role'];

export const sessionKey = ['session'] as const;

export function isAdministrator(user: Pick<User, 'role'>): boolean {
  return user.role >= roles.administrator;
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

/** `SessionGuard` provides the user. After the end of the session it is the last user, until someone signs in. */
export const UserContext = createContext<User | undefined>(undefined);

/** The signed-in user, for components inside `SessionGuard`. */
export function useUser(): User {
  const user = useContext(UserContext);
  if (!user) throw new Error('useUser is for pages behind the guard');
  return user;
}

/** The same for all users. */
const KEPT: unknown[] = [sessionKey[0], statusQuery.queryKey[0]];

/** Replaces the session and drops all other cached data of users, so that the next user does not see it. */
function replaceSession(client: QueryClient, user: User | null) {
  client.removeQueries({ predicate: ({ queryKey }) => !KEPT.includes(queryKey[0]) });
  client.setQueryData(sessionKey, user);
}

/** Fails if the browser did not keep the cookie: otherwise the next page would ask to sign in, again and again. */
async function signIn(body: { username: string; password: string }): Promise<User> {
  const user = await call(api.POST('/api/user/login', { body }));
  if (!(await isSignedIn(user))) {
    const { insecure, blocked } = texts.signIn.noCookie;
    throw new Error(window.location.protocol === 'http:' ? insecure : blocked);
  }
  return user;
}

/** A cookie of another session can still be there. Other failures than 401 say nothing about the cookie. */
async function isSignedIn({ id }: User): Promise<boolean> {
  try {
    return (await call(api.GET('/api/user/self'))).id === id;
  } catch (error) {
    return !(error instanceof ApiError && error.status === 401);
  }
}

export function useSignIn() {
  const client = useQueryClient();
  return useMutation({ mutationFn: signIn, onSuccess: (user) => replaceSession(client, user) });
}

/** Continues the session of the same user. Cached data stays, so that pages keep what they show and its input. */
export function useSignInAgain() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: signIn,
    gcTime: 0,
    onSuccess: (user) => {
      client.setQueryData(sessionKey, user);
      client.invalidateQueries();
    },
  });
}

/** Forgets the user of an ended session. */
export function useLeave() {
  const client = useQueryClient();
  return () => replaceSession(client, null);
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
