import { useQuery } from '@tanstack/react-query';
import type { GroupSetting } from './adminSettings';
import { api, call } from './client';

// Groups and models change only when the service restarts.
const staleTime = Number.POSITIVE_INFINITY;

export interface Group {
  desc: string;
  /** The price factor. */
  ratio: number | string;
}

/** The groups that a token can have, by name. With `ofGroup`, those of a token of somebody else in this group. */
export function useGroups(ofGroup?: string) {
  return useQuery({
    queryKey: ['groups', ofGroup],
    queryFn: ({ signal }): Promise<Record<string, Group>> =>
      ofGroup === undefined ? call(api.GET('/api/user/self/groups', { signal })) : groupsOf(ofGroup, signal),
    staleTime,
  });
}

async function groupsOf(group: string, signal: AbortSignal): Promise<Record<string, Group>> {
  const { groups } = await call(api.GET('/api/admin/settings', { signal }));
  return groupsByName(groups.filter(({ name, open }) => open || name === group));
}

/** Groups of the settings as those that a token can have. */
export function groupsByName(groups: GroupSetting[]): Record<string, Group> {
  return Object.fromEntries(groups.map(({ name, description: desc, ratio }) => [name, { desc, ratio }]));
}

/** The names of the known models. */
export function useModels(enabled = true) {
  return useQuery({
    enabled,
    queryKey: ['models'],
    queryFn: ({ signal }) => call(api.GET('/api/user/self/models', { signal })),
    staleTime,
  });
}
