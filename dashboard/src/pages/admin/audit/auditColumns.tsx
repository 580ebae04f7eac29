import { ActionIcon, Tooltip } from '@mantine/core';
import { IconInfoCircle } from '@tabler/icons-react';
import type { AuditLine } from '../../../api/adminAudit';
import type { Column } from '../../../shared/DataTable';
import { When } from '../../../shared/When';
import { texts } from '../../../texts';
import { ActionCell } from './ActionCell';
import { ActorLink, SubjectLink } from './auditLinks';
import { actionName } from './auditText';

const words = texts.adminAudit;

const time: Column<AuditLine> = {
  key: 'time',
  header: words.columns.time,
  width: 190,
  cell: (line) => <When seconds={line.at} />,
};

const action: Column<AuditLine> = {
  key: 'action',
  header: words.columns.action,
  place: 'title',
  cell: (line) => <ActionCell {...line} />,
};

const actor: Column<AuditLine> = {
  key: 'actor',
  header: words.columns.actor,
  cell: (line) => <ActorLink line={line} />,
};

const subject: Column<AuditLine> = {
  key: 'subject',
  header: words.columns.subject,
  cell: (line) => <SubjectLink line={line} />,
};

const ip: Column<AuditLine> = { key: 'ip', header: words.columns.ip, cell: (line) => line.ip };

export function auditColumns(onDetails: (line: AuditLine) => void): Column<AuditLine>[] {
  const details: Column<AuditLine> = {
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
  };
  return [time, actor, action, subject, ip, details];
}

/** The entries of one actor. */
export const actorColumns = [time, action, subject, ip];

/** The entries about one account and what it has. */
export const targetColumns = [time, actor, action, subject];

/** The entries about one resource. */
export const subjectColumns = [time, actor, action, ip];
