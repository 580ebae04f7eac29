import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api, call } from './client';
import { pageParams } from './page';
import type { components } from './schema';
import { sessionKey, type User } from './session';

export type NewUser = components['schemas']['NewUserBody'];
export type UserPatch = components['schemas']['UserPatchBody'];
export type Grant = components['schemas']['GrantBody'];

const usersKey = ['admin', 'users'] as const;

export function useUsers(keyword: string, page: number) {
  return useQuery({
    queryKey: [...usersKey, 'list', keyword, page],
    queryFn: ({ signal }) =>
      call(api.GET('/api/admin/users', { params: { query: { keyword, ...pageParams(page) } }, signal })),
    placeholderData: keepPreviousData,
  });
}

const DIRECTORY_PAGE = 100;
const DIRECTORY_PAGES = 10;

/**
 * Usernames by ID. The API has no call for a single account, so this loads the newest 1000. Other accounts are shown by
 * their ID.
 */
export function useUsernames() {
  return useQuery({
    queryKey: [...usersKey, 'names'],
    queryFn: async ({ signal }) => {
      const names = new Map<number, string>();
      for (let page = 0; page < DIRECTORY_PAGES; page++) {
        const query = { p: String(page), size: String(DIRECTORY_PAGE) };
        const { items } = await call(api.GET('/api/admin/users', { params: { query }, signal }));
        for (const user of items) names.set(user.id, user.username);
        if (items.length < DIRECTORY_PAGE) break;
      }
      return names;
    },
    staleTime: 60_000,
  });
}

function useRefresh() {
  const client = useQueryClient();
  return (user?: User) => {
    client.invalidateQueries({ queryKey: usersKey });
    const own = client.getQueryData<User>(sessionKey);
    if (user && user.id === own?.id) client.invalidateQueries({ queryKey: sessionKey });
  };
}

export function useCreateUser() {
  const refresh = useRefresh();
  return useMutation({
    mutationFn: (body: NewUser) => call(api.POST('/api/admin/users', { body })),
    onSuccess: () => refresh(),
  });
}

export function useEditUser() {
  const refresh = useRefresh();
  return useMutation({
    mutationFn: ({ id, patch }: { id: number; patch: UserPatch }) =>
      call(api.PATCH('/api/admin/users/{id}', { params: { path: { id } }, body: patch })),
    onSuccess: (user) => refresh(user),
  });
}

export function useGrantQuota() {
  const refresh = useRefresh();
  return useMutation({
    mutationFn: ({ id, grant }: { id: number; grant: Grant }) =>
      call(api.POST('/api/admin/users/{id}/quota', { params: { path: { id } }, body: grant })),
    onSuccess: (user) => refresh(user),
  });
}

export function useDeleteUser() {
  const refresh = useRefresh();
  return useMutation({
    mutationFn: (id: number) => call(api.DELETE('/api/admin/users/{id}', { params: { path: { id } } })),
    onSuccess: () => refresh(),
  });
}
