import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api, call } from './client';
import { pageParams } from './page';
import type { components } from './schema';

export type AuditLine = components['schemas']['AuditBody'];

export const auditFilterNames = [
  'actor_id',
  'action',
  'subject_kind',
  'subject_id',
  'user_id',
  'from',
  'to',
] as const;
/** Days are those of the server. */
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

/** The address of all matching entries as CSV. */
export function auditCsvHref(filter: AuditFilter): string {
  const given = Object.entries(filter).filter(([, value]) => value !== '');
  return `/api/admin/audit?${new URLSearchParams([...given, ['format', 'csv']])}`;
}
