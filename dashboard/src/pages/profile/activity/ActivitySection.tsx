import { Paper, Text, Title } from '@mantine/core';
import { IconHistory } from '@tabler/icons-react';
import { useState } from 'react';
import { ACTIVITY_PAGE_SIZE, type ActivityLine, useActivity } from '../../../api/activity';
import { useUser } from '../../../api/session';
import type { Column } from '../../../shared/DataTable';
import { DataTable } from '../../../shared/DataTable';
import { EmptyState } from '../../../shared/EmptyState';
import { FailureState } from '../../../shared/FailureState';
import { Name } from '../../../shared/Name';
import { Pager } from '../../../shared/Pager';
import { When } from '../../../shared/When';
import { texts } from '../../../texts';
import { ActionCell } from '../../admin/audit/ActionCell';
import { actorName, subjectName } from '../../admin/audit/auditText';

const words = texts.profile.activity;

/** What the audit log has about the account and its keys. */
export function ActivitySection() {
  const [page, setPage] = useState(0);
  const { data, error, refetch, isPlaceholderData } = useActivity(page);
  const { id } = useUser();
  return (
    <section>
      <Title order={2} mt="xl">
        {words.title}
      </Title>
      <Text c="dimmed" size="sm" mb="md">
        {words.hint}
      </Text>
      {error && (!data || isPlaceholderData) ? (
        <Paper>
          <FailureState error={error} onRetry={refetch} />
        </Paper>
      ) : (
        <>
          <DataTable
            label={words.title}
            columns={activityColumns(id)}
            rows={data?.items}
            rowKey={(line) => line.id}
            empty={<EmptyState icon={IconHistory} title={words.empty} />}
          />
          {data && <Pager page={page} pageSize={ACTIVITY_PAGE_SIZE} total={data.total} onChange={setPage} />}
        </>
      )}
    </section>
  );
}

function activityColumns(ownId: number): Column<ActivityLine>[] {
  const { columns } = texts.adminAudit;
  return [
    { key: 'time', header: columns.time, cell: (line) => <When seconds={line.at} /> },
    {
      key: 'action',
      header: columns.action,
      place: 'title',
      cell: (line) => <ActionCell {...line} />,
    },
    { key: 'subject', header: columns.subject, cell: (line) => <Name>{subjectName(line)}</Name> },
    {
      key: 'actor',
      header: columns.actor,
      cell: (line) => <Name>{line.actor_id === ownId ? words.you : actorName(line)}</Name>,
    },
    { key: 'ip', header: columns.ip, cell: (line) => line.ip },
  ];
}
