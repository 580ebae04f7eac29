import { IconHistory } from '@tabler/icons-react';
import { type AuditFilter, type AuditLine, auditFilterNames, useAuditLog } from '../../../api/adminAudit';
import { useUsernames } from '../../../api/adminUsers';
import { EmptyState } from '../../../shared/EmptyState';
import { PageHeader } from '../../../shared/PageHeader';
import { useRowDialog } from '../../../shared/useRowDialog';
import { texts } from '../../../texts';
import { NoMatches } from '../shared/NoMatches';
import { PagedTable } from '../shared/PagedTable';
import { useListQuery } from '../shared/useListQuery';
import { AuditDetails } from './AuditDetails';
import { AuditFilters } from './AuditFilters';
import { auditColumns } from './auditColumns';

const words = texts.adminAudit;

const noFilter: AuditFilter = { actor_id: '', action: '', subject_kind: '', subject_id: '', user_id: '' };

export default function AuditPage() {
  const { filters, page, setFilters, setPage } = useListQuery(auditFilterNames);
  const lines = useAuditLog(filters, page);
  const { data: names } = useUsernames();
  const { dialog, row, open, close } = useRowDialog<'details', AuditLine>();
  const clear = () => setFilters(noFilter);
  return (
    <>
      <PageHeader title={words.title} description={words.description} />
      <AuditFilters filter={filters} onChange={setFilters} onClear={clear} />
      <PagedTable
        label={words.title}
        columns={auditColumns(names, (line) => open('details', line))}
        query={lines}
        rowKey={(line) => line.id}
        page={page}
        onPage={setPage}
        empty={
          Object.values(filters).some(Boolean) ? (
            <NoMatches onClear={clear} />
          ) : (
            <EmptyState icon={IconHistory} {...words.empty} />
          )
        }
      />
      {row && (
        <AuditDetails
          line={row}
          names={names}
          opened={dialog === 'details'}
          onClose={close}
          onFilter={(filter) => setFilters({ ...noFilter, ...filter })}
        />
      )}
    </>
  );
}
