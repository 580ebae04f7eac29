import { Group, Paper, Stack, Text, Title } from '@mantine/core';
import { useEffect, useRef } from 'react';
import type { ApiDocument } from '../../api/apiDocument';
import { ToneBadge } from '../../shared/ToneBadge';
import { texts } from '../../texts';
import { textOf } from '../../texts/textOf';
import { Answers } from './Answers';
import { InlineCode } from './InlineCode';
import { Members } from './Members';
import { Method } from './Method';
import { membersOf } from './members';
import type { Operation } from './operations';
import classes from './ReferencePage.module.css';
import { TryIt } from './TryIt';

const words = texts.reference;

/** An operation: who can call it, what it takes and answers, and a form to try it. */
export function OperationDetails({ operation, document }: { operation: Operation; document: ApiDocument }) {
  const { method, path, summary, description, permission, body } = operation;
  const { schemas } = document.components;
  const title = useRef<HTMLHeadingElement>(null);

  // As after a change of the page: to its beginning, which is read aloud.
  useEffect(() => {
    window.scrollTo(0, 0);
    title.current?.focus({ preventScroll: true });
  }, []);

  return (
    <Stack component="article" gap="md" mt={4}>
      <Paper p="lg">
        <Stack gap="xs">
          <Title order={2} className={classes.title} ref={title} tabIndex={-1}>
            <Method>{method}</Method>
            {path}
          </Title>
          <Text lang="en">
            <InlineCode>{summary}</InlineCode>
          </Text>
          {description && (
            <Text size="sm" c="dimmed" lang="en">
              <InlineCode>{description}</InlineCode>
            </Text>
          )}
          <Group gap="xs">
            <Text size="sm" c="dimmed">
              {words.permissionLabel}
            </Text>
            <ToneBadge tone={permission === 'admin' ? 'warn' : 'info'}>
              {permissionText(permission)}
            </ToneBadge>
          </Group>
        </Stack>
      </Paper>
      <TryIt operation={operation} document={document} />
      {body && (
        <Paper component="section" p="lg">
          <Title order={3} mb="xs">
            {words.body}
          </Title>
          <Members members={membersOf(body, schemas)} />
        </Paper>
      )}
      <Answers answers={operation.answers} schemas={schemas} />
    </Stack>
  );
}

/** Who has a permission. The name of one that is newer than this dashboard says it, too. */
function permissionText(permission: string): string {
  return textOf(words.permissions, permission) ?? permission;
}
