import { Button, Group, Paper, Text, Title } from '@mantine/core';
import { IconDevices, IconLogout } from '@tabler/icons-react';
import { useRef, useState } from 'react';
import { type Session, useEndOtherSessions, useEndSession, useSessions } from '../../../api/sessions';
import { ConfirmDialog } from '../../../shared/ConfirmDialog';
import { DataTable } from '../../../shared/DataTable';
import { EmptyState } from '../../../shared/EmptyState';
import { FailureState } from '../../../shared/FailureState';
import { useRowDialog } from '../../../shared/useRowDialog';
import { texts } from '../../../texts';
import { sessionColumns, sessionName } from './sessionColumns';

const words = texts.profile.sessions;

/** Where the user is signed in. */
export function SessionsSection() {
  const { data: sessions, error, refetch } = useSessions();
  const heading = useRef<HTMLHeadingElement>(null);
  const [endingOthers, setEndingOthers] = useState(false);
  const { dialog, row, open, close } = useRowDialog<'end', Session>();
  const endSession = useEndSession();
  const endOthers = useEndOtherSessions();
  const hasOthers = sessions?.some(({ current }) => !current) ?? false;
  return (
    <section>
      <Group justify="space-between" align="flex-end" mt="xl" mb="md">
        <div>
          <Title order={2} ref={heading} tabIndex={-1}>
            {words.title}
          </Title>
          <Text c="dimmed" size="sm">
            {words.hint}
          </Text>
        </div>
        <Button
          variant="default"
          leftSection={<IconLogout size={18} stroke={1.6} />}
          disabled={!hasOthers}
          onClick={() => setEndingOthers(true)}
        >
          {words.endOthers}
        </Button>
      </Group>
      {error && !sessions ? (
        <Paper>
          <FailureState error={error} onRetry={refetch} />
        </Paper>
      ) : (
        <DataTable
          label={words.title}
          columns={sessionColumns((session) => open('end', session))}
          rows={sessions}
          rowKey={(session) => session.id}
          empty={<EmptyState icon={IconDevices} title={words.empty} />}
        />
      )}
      {row && (
        <ConfirmDialog
          key={row.id}
          opened={dialog === 'end'}
          title={words.endTitle(sessionName(row))}
          actionLabel={words.end}
          mutation={endSession}
          variables={row.id}
          successMessage={() => words.ended(sessionName(row))}
          focusAfterSuccess={heading}
          onClose={close}
        >
          {words.endHint}
        </ConfirmDialog>
      )}
      <ConfirmDialog
        opened={endingOthers}
        title={words.endOthersTitle}
        actionLabel={words.endOthers}
        mutation={endOthers}
        variables={undefined}
        successMessage={(count) => words.endedOthers(count)}
        focusAfterSuccess={heading}
        onClose={() => setEndingOthers(false)}
      >
        {words.endOthersHint}
      </ConfirmDialog>
    </section>
  );
}
