import { Alert, Paper, Stack } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useSystem } from '../../../api/adminSystem';
import { formatMoment } from '../../../format/time';
import { FailureMessage } from '../../../shared/FailureMessage';
import { FailureState } from '../../../shared/FailureState';
import { PageHeader } from '../../../shared/PageHeader';
import { TilesSkeleton } from '../../../shared/Skeletons';
import { texts } from '../../../texts';
import { AttentionSection } from './AttentionSection';
import { BackupSection } from './BackupSection';
import { DatabaseSection } from './DatabaseSection';
import { JobsSection } from './JobsSection';
import { NowSection } from './NowSection';
import { ProofSection } from './ProofSection';
import { ServersSection } from './ServersSection';
import classes from './SystemPage.module.css';

const words = texts.adminSystem;

/** What operators look at: what the servers do, and whether the database, the ledger and the backups are sound. */
export default function SystemPage() {
  const { data: system, error, refetch } = useSystem();
  return (
    <>
      <PageHeader title={words.title} description={words.description} />
      {system ? (
        <Stack gap="lg">
          {error && (
            <Alert
              color="yellow"
              icon={<IconAlertTriangle size={18} />}
              title={words.stale(formatMoment(system.time))}
            >
              <FailureMessage error={error} />
            </Alert>
          )}
          <AttentionSection system={system} />
          <NowSection system={system} />
          <ServersSection system={system} />
          <DatabaseSection system={system} />
          <div className={classes.halves}>
            <Stack gap="md">
              <ProofSection proof={system.proof} />
              <BackupSection backup={system.backup} />
            </Stack>
            <JobsSection system={system} />
          </div>
        </Stack>
      ) : error ? (
        <Paper>
          <FailureState error={error} onRetry={refetch} />
        </Paper>
      ) : (
        <TilesSkeleton />
      )}
    </>
  );
}
