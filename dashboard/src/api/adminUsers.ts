import { keepPreviousData, queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { auditKey } from './adminAudit';
import { api, call } from './client';
import { reloadOutlooks } from './outlook';
import { PAGE_SIZE, pageParams } from './page';
import type { components } from './schema';
import { limits } from './serverLimits';
import { sessionKey, type User } from './session';

export type NewUser = components['schemas']['NewUserBody'];
export type UserPatch = components['schemas']['UserPatchBody'];
export type Grant = components['schemas']['GrantBody'];

const usersKey = ['admin', 'users'] as const;

export const userSortings = {
  newest: { sort: 'id', order: 'desc' },
  name: { sort: 'username', order: 'asc' },
  name_desc: { sort: 'username', order: 'desc' },
  lowest_wallet: { sort: 'quota', order: 'asc' },
  highest_wallet: { sort: 'quota', order: 'desc' },
  most_spent: { sort: 'used_quota', order: 'desc' },
};

export type UserSorting = keyof typeof userSortings;

export const userSortingNames = Object.keys(userSortings) as UserSorting[];
export const DEFAULT_USER_SORTING: UserSorting = 'newest';

export function readUserSorting(text: string | null): UserSorting {
  return userSortingNames.find((name) => name === text) ?? DEFAULT_USER_SORTING;
}

interface UserListing {
  keyword: string;
  /** 1 enabled, 2 disabled, or empty. */
  status?: string;
  /** The name of a group. Absent means all. */
  group?: string;
  sorting?: UserSorting;
}

export function useUsers(listing: UserListing, page: number, size = PAGE_SIZE) {
  const { keyword, status = '', group, sorting = DEFAULT_USER_SORTING } = listing;
  return useQuery({
    queryKey: [...usersKey, 'list', keyword, status, group, sorting, page, size],
    queryFn: ({ signal }) => {
      const query = { keyword, status, group, ...userSortings[sorting], ...pageParams(page, size) };
      return call(api.GET('/api/admin/users', { params: { query }, signal }));
    },
    placeholderData: keepPreviousData,
  });
}

/** The first users with the keyword. Sends nothing without one. */
export function useUserSearch(keyword: string | undefined) {
  return useQuery({
    queryKey: [...usersKey, 'list', 'search', keyword],
    queryFn: ({ signal }) =>
      call(api.GET('/api/admin/users', { params: { query: { keyword, ...pageParams(0) } }, signal })),
    enabled: keyword !== undefined,
    placeholderData: keepPreviousData,
  });
}

/** Enabled accounts, those with the smallest wallets first. */
export function useSmallestWallets() {
  return useQuery({
    queryKey: [...usersKey, 'list', 'smallest wallets'],
    queryFn: ({ signal }) => {
      const query = { status: '1', size: String(limits.page_size), ...userSortings.lowest_wallet };
      return call(api.GET('/api/admin/users', { params: { query }, signal }));
    },
    select: (page) => page.items,
  });
}

const oneAccount = (id: number) =>
  queryOptions({
    queryKey: [...usersKey, 'one', id],
    queryFn: ({ signal }) => call(api.GET('/api/admin/users/{id}', { params: { path: { id } }, signal })),
  });

/** One account. Sends nothing without an ID. */
export function useAccount(id: number | undefined) {
  return useQuery({ ...oneAccount(id ?? 0), enabled: id !== undefined });
}

/** Reads an account as it is now. */
export function useReadAccount() {
  const client = useQueryClient();
  return (id: number) => client.fetchQuery({ ...oneAccount(id), staleTime: 0 });
}

/** Loads again what depends on accounts, with the IDs of those that were changed. */
export function useRefreshUsers() {
  const client = useQueryClient();
  return (...ids: number[]) => {
    client.invalidateQueries({ queryKey: usersKey });
    client.invalidateQueries({ queryKey: auditKey });
    reloadOutlooks(client);
    const own = client.getQueryData<User>(sessionKey);
    if (own && ids.includes(own.id)) client.invalidateQueries({ queryKey: sessionKey });
  };
}

export function useCreateUser() {
  const refresh = useRefreshUsers();
  return useMutation({
    mutationFn: (body: NewUser) => call(api.POST('/api/admin/users', { body })),
    onSuccess: () => refresh(),
  });
}

export function useEditUser() {
  const refresh = useRefreshUsers();
  return useMutation({
    mutationFn: ({ id, patch }: { id: number; patch: UserPatch }) =>
      call(api.PATCH('/api/admin/users/{id}', { params: { path: { id } }, body: patch })),
    onSuccess: (user) => refresh(user.id),
  });
}

export function grantQuota(id: number, grant: Grant): Promise<User> {
  return call(api.POST('/api/admin/users/{id}/quota', { params: { path: { id } }, body: grant }));
}

export function useGrantQuota() {
  const refresh = useRefreshUsers();
  return useMutation({
    mutationFn: ({ id, grant }: { id: number; grant: Grant }) => grantQuota(id, grant),
    onSuccess: (user) => refresh(user.id),
    // The server may have changed the wallet before the connection was lost.
    onError: () => refresh(),
  });
}

export function useDeleteUser() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: number) => call(api.DELETE('/api/admin/users/{id}', { params: { path: { id } } })),
    onSuccess: () => {
      client.invalidateQueries({ queryKey: [...usersKey, 'list'] });
      // The page of the user closes. Loading it again would fail.
      client.invalidateQueries({ queryKey: usersKey, refetchType: 'none' });
      client.invalidateQueries({ queryKey: auditKey, refetchType: 'none' });
    },
  });
}
