import { useQuery } from '@tanstack/react-query';
import { api, call } from './client';
import type { components } from './schema';

export type ImportRun = components['schemas']['ImportRunBody'];
export type ImportReport = components['schemas']['ImportReportBody'];
export type ImportCounts = components['schemas']['ImportCountsBody'];
export type ImportFinding = components['schemas']['ImportFindingBody'];
export type ImportRow = components['schemas']['ImportRowBody'];
export type ImportDetail = components['schemas']['ImportDetailBody'];
export type ImportNote = components['schemas']['ImportNoteBody'];

/** The latest runs of `keymeter import`, newest first. */
export function useImports() {
  return useQuery({
    queryKey: ['admin', 'imports'],
    queryFn: ({ signal }) => call(api.GET('/api/admin/imports', { signal })),
  });
}
