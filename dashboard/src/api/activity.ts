import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api, call } from './client';
import { pageParams } from './page';
import type { components } from './schema';

export type ActivityLine = components['schemas']['ActivityBody'];

export const ACTIVITY_PAGE_SIZE = 10;

/** What happened to the account and the keys of the user, newest first. */
export function useActivity(page: number) {
  return useQuery({
    queryKey: ['activity', page],
    queryFn: ({ signal }) => {
      const query = pageParams(page, ACTIVITY_PAGE_SIZE);
      return call(api.GET('/api/user/activity', { params: { query }, signal }));
    },
    placeholderData: keepPreviousData,
    staleTime: 0,
  });
}
