import { Paper, Skeleton, Stack } from '@mantine/core';
import { useImports } from '../../../api/adminImports';
import { FailureState } from '../../../shared/FailureState';
import { PageHeader } from '../../../shared/PageHeader';
import { texts } from '../../../texts';
import { NoImports } from './NoImports';
import { RunSection } from './RunSection';

const words = texts.adminImports;
const back = { href: '/admin', label: texts.adminHome.title };

/** The latest runs of `keymeter import`. */
export default function ImportsPage() {
  const { data: runs, error, refetch } = useImports();
  return (
    <>
      <PageHeader title={words.title} description={words.description} back={back} />
      {runs ? (
        <Stack gap="md">
          {runs.length === 0 && <NoImports />}
          {runs.map((run, index) => (
            <RunSection key={run.id} run={run} isLatest={index === 0} />
          ))}
        </Stack>
      ) : error ? (
        <Paper>
          <FailureState error={error} onRetry={refetch} />
        </Paper>
      ) : (
        <Skeleton h={420} radius="lg" />
      )}
    </>
  );
}
