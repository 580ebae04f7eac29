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

/** The first users with the keyword. Sends nothing without one. */
export function useUserSearch(keyword: string | undefined) {
  return useQuery({
    queryKey: [...usersKey, 'list', keyword, 0],
    queryFn: ({ signal }) =>
      call(api.GET('/api/admin/users', { params: { query: { keyword, ...pageParams(0) } }, signal })),
    enabled: keyword !== undefined,
    placeholderData: keepPreviousData,
  });
}

/** One account. Sends nothing without an ID. */
export function useAccount(id: number | undefined) {
  return useQuery({
    queryKey: [...usersKey, 'one', id],
    queryFn: ({ signal }) =>
      call(api.GET('/api/admin/users/{id}', { params: { path: { id: id ?? 0 } }, signal })),
    enabled: id !== undefined,
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
