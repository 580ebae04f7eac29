import { Anchor, Group, Modal, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { AuditFilter, AuditLine } from '../../../api/adminAudit';
import { formatMoment } from '../../../format/time';
import { CopyButton } from '../../../shared/CopyButton';
import { RelativeTime } from '../../../shared/RelativeTime';
import { texts } from '../../../texts';
import classes from './AuditDetails.module.css';
import { ActorLink, SubjectLink } from './auditLinks';
import { actionName, actorName, detailsOf, ownerName, subjectName } from './auditText';

const words = texts.adminAudit;

interface Props {
  line: AuditLine;
  opened: boolean;
  onClose: () => void;
  /** Replaces the filter of the list. */
  onFilter: (filter: Partial<AuditFilter>) => void;
}

export function AuditDetails({ line, opened, onClose, onFilter }: Props) {
  const { at, actor_id, action, subject_kind, subject_id, user_id, ip, request_id } = line;
  const actor = actorName(line);
  const subject = subjectName(line);

  function filterBy(filter: Partial<AuditFilter>) {
    onClose();
    onFilter(filter);
  }

  return (
    <Modal opened={opened} onClose={onClose} title={actionName(action)}>
      <Stack>
        <dl className={classes.details}>
          <Detail label={words.columns.time}>
            {formatMoment(at)} · <RelativeTime seconds={at} />
          </Detail>
          <Detail label={words.columns.actor}>
            <ActorLink line={line} />
          </Detail>
          <Detail label={words.columns.subject}>
            <SubjectLink line={line} />
          </Detail>
          {user_id != null && subject_kind !== 'user' && (
            <Detail label={words.dialog.owner}>{ownerName(line)}</Detail>
          )}
          {detailsOf(line).map(({ label, value }) => (
            <Detail key={label} label={label}>
              {value}
            </Detail>
          ))}
          {ip && <Detail label={words.columns.ip}>{ip}</Detail>}
          {request_id && (
            <Detail label={words.dialog.requestId}>
              <Group gap={4} wrap="nowrap">
                <Text span ff="monospace" size="xs" className={classes.id}>
                  {request_id}
                </Text>
                <CopyButton value={request_id} label={words.dialog.copyRequestId} />
              </Group>
            </Detail>
          )}
        </dl>
        <Stack gap="xs" align="flex-start">
          {actor_id != null && (
            <Anchor component="button" size="sm" onClick={() => filterBy({ actor_id: String(actor_id) })}>
              {words.dialog.filterByActor(actor)}
            </Anchor>
          )}
          {subject_id != null && (
            <Anchor
              component="button"
              size="sm"
              onClick={() => filterBy({ subject_kind, subject_id: String(subject_id) })}
            >
              {words.dialog.filterBySubject(subject)}
            </Anchor>
          )}
        </Stack>
      </Stack>
    </Modal>
  );
}

function Detail({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className={classes.detail}>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}
