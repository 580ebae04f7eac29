import { Anchor, Group, Modal, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { AuditFilter, AuditLine } from '../../../api/adminAudit';
import { formatMoment } from '../../../format/time';
import { CopyButton } from '../../../shared/CopyButton';
import { WhenText } from '../../../shared/WhenText';
import { texts } from '../../../texts';
import { nameOf } from '../shared/nameOf';
import classes from './AuditDetails.module.css';
import { actionName, actorName, factsOf, subjectName } from './auditWords';

const words = texts.adminAudit;

interface Props {
  line: AuditLine;
  names: ReadonlyMap<number, string> | undefined;
  opened: boolean;
  onClose: () => void;
  /** Shows the lines of this filter in place of the present ones. */
  onFilter: (filter: Partial<AuditFilter>) => void;
}

export function AuditDetails({ line, names, opened, onClose, onFilter }: Props) {
  const { at, actor_id, action, subject_kind, subject_id, user_id, ip, request_id, details } = line;
  const who = actorName(line);
  const subject = subjectName(line, names);

  function filterBy(filter: Partial<AuditFilter>) {
    onClose();
    onFilter(filter);
  }

  return (
    <Modal opened={opened} onClose={onClose} title={actionName(action)}>
      <Stack>
        <dl className={classes.facts}>
          <Fact label={words.columns.when}>
            {formatMoment(at)} (<WhenText seconds={at} />)
          </Fact>
          <Fact label={words.columns.who}>{who}</Fact>
          <Fact label={words.columns.subject}>{subject}</Fact>
          {user_id != null && subject_kind !== 'user' && (
            <Fact label={words.dialog.owner}>{nameOf(user_id, names)}</Fact>
          )}
          {factsOf(details).map(({ label, value }) => (
            <Fact key={label} label={label}>
              {value}
            </Fact>
          ))}
          {ip && <Fact label={words.columns.from}>{ip}</Fact>}
          {request_id && (
            <Fact label={words.dialog.request}>
              <Group gap={4} wrap="nowrap">
                <Text span ff="monospace" size="xs" className={classes.id}>
                  {request_id}
                </Text>
                <CopyButton value={request_id} label={words.dialog.copyRequest} />
              </Group>
            </Fact>
          )}
        </dl>
        <Stack gap="xs" align="flex-start">
          {actor_id != null && (
            <Anchor component="button" size="sm" onClick={() => filterBy({ actor_id: String(actor_id) })}>
              {words.dialog.everythingBy(who)}
            </Anchor>
          )}
          {subject_id != null && (
            <Anchor
              component="button"
              size="sm"
              onClick={() => filterBy({ subject_kind, subject_id: String(subject_id) })}
            >
              {words.dialog.everythingOn(subject)}
            </Anchor>
          )}
        </Stack>
      </Stack>
    </Modal>
  );
}

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className={classes.fact}>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}
