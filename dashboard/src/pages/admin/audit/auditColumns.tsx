import { ActionIcon, Text, Tooltip } from '@mantine/core';
import { IconInfoCircle } from '@tabler/icons-react';
import type { AuditLine } from '../../../api/adminAudit';
import type { Column } from '../../../shared/DataTable';
import { When } from '../../../shared/When';
import { texts } from '../../../texts';
import { actionName, actorName, detailsOf, subjectName } from './auditText';

const words = texts.adminAudit;

export function auditColumns(onDetails: (line: AuditLine) => void): Column<AuditLine>[] {
  return [
    {
      key: 'time',
      header: words.columns.time,
      width: 150,
      cell: (line) => <When seconds={line.at} />,
    },
    { key: 'actor', header: words.columns.actor, cell: actorName },
    {
      key: 'action',
      header: words.columns.action,
      place: 'title',
      cell: (line) => (
        <>
          <Text fw={600} size="sm">
            {actionName(line.action)}
          </Text>
          {detailsOf(line.details).map(({ label, value }) => (
            <Text key={label} size="xs" c="dimmed">
              {texts.common.labelled(label, value)}
            </Text>
          ))}
        </>
      ),
    },
    { key: 'subject', header: words.columns.subject, cell: subjectName },
    { key: 'ip', header: words.columns.ip, cell: (line) => line.ip },
    {
      key: 'details',
      place: 'corner',
      align: 'right',
      cell: (line) => (
        <Tooltip label={words.showDetails(actionName(line.action))}>
          <ActionIcon aria-label={words.showDetails(actionName(line.action))} onClick={() => onDetails(line)}>
            <IconInfoCircle size={18} stroke={1.6} />
          </ActionIcon>
        </Tooltip>
      ),
    },
  ];
}
