import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api, call } from './client';
import type { components } from './schema';

export type Session = components['schemas']['SessionBody'];

const sessionsKey = ['sessions'] as const;

/** Where the user is signed in, the last used first. */
export function useSessions() {
  return useQuery({
    queryKey: sessionsKey,
    queryFn: ({ signal }) => call(api.GET('/api/user/sessions', { signal })),
  });
}

export function useEndSession() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: number) => call(api.DELETE('/api/user/sessions/{id}', { params: { path: { id } } })),
    onSettled: () => {
      client.invalidateQueries({ queryKey: sessionsKey });
    },
  });
}

/** Resolves to the number of sessions that ended. */
export function useEndOtherSessions() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => call(api.DELETE('/api/user/sessions')),
    onSettled: () => {
      client.invalidateQueries({ queryKey: sessionsKey });
    },
  });
}
