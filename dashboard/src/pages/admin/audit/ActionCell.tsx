import { Text } from '@mantine/core';
import type { AuditLine } from '../../../api/adminAudit';
import { texts } from '../../../texts';
import { actionName, detailsOf } from './auditText';

/** What was done, with its details. */
export function ActionCell({ action, ...line }: Pick<AuditLine, 'action' | 'details' | 'changes'>) {
  return (
    <>
      <Text fw={600} size="sm">
        {actionName(action)}
      </Text>
      {detailsOf(line).map(({ label, value }) => (
        <Text key={label} size="xs" c="dimmed" maw="24rem" style={{ overflowWrap: 'anywhere' }}>
          {texts.common.labelled(label, value)}
        </Text>
      ))}
    </>
  );
}
