import { useQuery } from '@tanstack/react-query';
import { api, call } from './client';

// Groups and models change only when the service restarts.
const staleTime = Number.POSITIVE_INFINITY;

/** The groups that a token can have, by name. */
export function useGroups() {
  return useQuery({
    queryKey: ['groups'],
    queryFn: ({ signal }) => call(api.GET('/api/user/self/groups', { signal })),
    staleTime,
  });
}

/** The names of the known models. */
export function useModels() {
  return useQuery({
    queryKey: ['models'],
    queryFn: ({ signal }) => call(api.GET('/api/user/self/models', { signal })),
    staleTime,
  });
}
