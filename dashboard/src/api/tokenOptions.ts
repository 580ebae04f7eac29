import { useQuery } from '@tanstack/react-query';
import { api, call } from './client';

// Both change only when the operator restarts the service.
const staleTime = Number.POSITIVE_INFINITY;

/** The groups that a token may be given, by name. */
export function useGroups() {
  return useQuery({
    queryKey: ['groups'],
    queryFn: ({ signal }) => call(api.GET('/api/user/self/groups', { signal })),
    staleTime,
  });
}

/** The names of the models there are. */
export function useModels() {
  return useQuery({
    queryKey: ['models'],
    queryFn: ({ signal }) => call(api.GET('/api/user/self/models', { signal })),
    staleTime,
  });
}
