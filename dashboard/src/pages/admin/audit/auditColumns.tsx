import { ActionIcon, Text, Tooltip } from '@mantine/core';
import { IconInfoCircle } from '@tabler/icons-react';
import type { AuditLine } from '../../../api/adminAudit';
import type { Column } from '../../../shared/DataTable';
import { WhenText } from '../../../shared/WhenText';
import { texts } from '../../../texts';
import { actionName, actorName, factsOf, subjectName } from './auditWords';

const words = texts.adminAudit;

export function auditColumns(
  names: ReadonlyMap<number, string> | undefined,
  onDetails: (line: AuditLine) => void,
): Column<AuditLine>[] {
  return [
    {
      key: 'when',
      header: words.columns.when,
      width: 150,
      cell: (line) => <WhenText seconds={line.at} />,
    },
    { key: 'who', header: words.columns.who, cell: actorName },
    {
      key: 'what',
      header: words.columns.what,
      place: 'title',
      cell: (line) => (
        <>
          <Text fw={600} size="sm">
            {actionName(line.action)}
          </Text>
          {factsOf(line.details).map(({ label, value }) => (
            <Text key={label} size="xs" c="dimmed">
              {label}: {value}
            </Text>
          ))}
        </>
      ),
    },
    { key: 'subject', header: words.columns.subject, cell: (line) => subjectName(line, names) },
    { key: 'from', header: words.columns.from, cell: (line) => line.ip },
    {
      key: 'details',
      place: 'corner',
      align: 'right',
      cell: (line) => (
        <Tooltip label={words.details(actionName(line.action))}>
          <ActionIcon aria-label={words.details(actionName(line.action))} onClick={() => onDetails(line)}>
            <IconInfoCircle size={18} stroke={1.6} />
          </ActionIcon>
        </Tooltip>
      ),
    },
  ];
}
