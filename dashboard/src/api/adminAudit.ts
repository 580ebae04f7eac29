import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api, call } from './client';
import { pageParams } from './page';
import type { components } from './schema';

export type AuditLine = components['schemas']['AuditBody'];

export const auditFilterNames = ['actor_id', 'action', 'subject_kind', 'subject_id', 'user_id'] as const;
export type AuditFilter = Record<(typeof auditFilterNames)[number], string>;

export function useAuditLog(filter: AuditFilter, page: number) {
  return useQuery({
    queryKey: ['admin', 'audit', filter, page],
    queryFn: ({ signal }) =>
      call(api.GET('/api/admin/audit', { params: { query: { ...filter, ...pageParams(page) } }, signal })),
    placeholderData: keepPreviousData,
    // Actions on other pages add entries.
    staleTime: 0,
  });
}
