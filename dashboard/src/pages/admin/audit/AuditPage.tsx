import { Button, Tooltip } from '@mantine/core';
import { IconDownload, IconHistory } from '@tabler/icons-react';
import {
  type AuditFilter,
  type AuditLine,
  auditCsvHref,
  auditFilterNames,
  useAuditLog,
} from '../../../api/adminAudit';
import { EmptyState } from '../../../shared/EmptyState';
import { NoMatches } from '../../../shared/NoMatches';
import { PageHeader } from '../../../shared/PageHeader';
import { useListQuery } from '../../../shared/useListQuery';
import { useRowDialog } from '../../../shared/useRowDialog';
import { texts } from '../../../texts';
import { PagedTable } from '../shared/PagedTable';
import { AuditDetails } from './AuditDetails';
import { AuditFilters } from './AuditFilters';
import { auditColumns } from './auditColumns';

const words = texts.adminAudit;

const noFilter = Object.fromEntries(auditFilterNames.map((name) => [name, ''])) as AuditFilter;

export default function AuditPage() {
  const { filters, page, setFilters, setPage } = useListQuery(auditFilterNames);
  const lines = useAuditLog(filters, page);
  const { dialog, row, open, close } = useRowDialog<'details', AuditLine>();
  const clear = () => setFilters(noFilter);
  return (
    <>
      <PageHeader
        title={words.title}
        description={words.description}
        actions={
          <Tooltip label={words.exportHint}>
            <Button
              component="a"
              href={auditCsvHref(filters)}
              download
              variant="default"
              leftSection={<IconDownload size={18} stroke={1.6} />}
            >
              {words.exportCsv}
            </Button>
          </Tooltip>
        }
      />
      <AuditFilters filter={filters} onChange={setFilters} onClear={clear} />
      <PagedTable
        label={words.title}
        columns={auditColumns((line) => open('details', line))}
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
          opened={dialog === 'details'}
          onClose={close}
          onFilter={(filter) => setFilters({ ...noFilter, ...filter })}
        />
      )}
    </>
  );
}
