import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api, call } from './client';
import { PAGE_SIZE, pageParams } from './page';
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

export const auditKey = ['admin', 'audit'] as const;

/** Entries that match the filter, newest first. */
export function useAuditLog(filter: Partial<AuditFilter>, page: number, size = PAGE_SIZE) {
  return useQuery({
    queryKey: [...auditKey, filter, page, size],
    queryFn: ({ signal }) => {
      const query = { ...filter, ...pageParams(page, size) };
      return call(api.GET('/api/admin/audit', { params: { query }, signal }));
    },
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
