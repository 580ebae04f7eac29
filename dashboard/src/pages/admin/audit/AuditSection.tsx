import { IconHistory } from '@tabler/icons-react';
import { type AuditFilter, type AuditLine, useAuditLog } from '../../../api/adminAudit';
import type { Column } from '../../../shared/DataTable';
import { EmptyState } from '../../../shared/EmptyState';
import { LoadedTable } from '../../../shared/LoadedTable';
import { listHref } from '../../../shared/listQuery';
import { SectionHeader } from '../shared/SectionHeader';

const LINES = 5;

interface Props {
  words: { title: string; all: string; empty: { title: string; hint: string } };
  filter: Partial<AuditFilter>;
  columns: Column<AuditLine>[];
}

/** The latest entries of the audit log about one thing, with a link to all of them. */
export function AuditSection({ words, filter, columns }: Props) {
  const { data, error, refetch } = useAuditLog(filter, 0, LINES);
  return (
    <section>
      <SectionHeader title={words.title} href={listHref('/admin/audit', filter)} label={words.all} />
      <LoadedTable
        error={error}
        onRetry={refetch}
        label={words.title}
        columns={columns}
        rows={data?.items}
        rowKey={(line) => line.id}
        empty={<EmptyState icon={IconHistory} {...words.empty} />}
      />
    </section>
  );
}
