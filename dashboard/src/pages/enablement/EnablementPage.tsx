import { Paper, Skeleton, Stack } from '@mantine/core';
import { type Enablement, useEnablement } from '../../api/enablement';
import { FailureState } from '../../shared/FailureState';
import { PageHeader } from '../../shared/PageHeader';
import { texts } from '../../texts';
import { AskForm } from './AskForm';
import { Contact } from './Contact';
import { Granted } from './Granted';
import { RequestCard } from './RequestCard';

const words = texts.enablement;
const WIDTH = 680;

export default function EnablementPage() {
  const { data: enablement, error, refetch } = useEnablement();
  return (
    <>
      <PageHeader title={words.title} description={words.description} />
      <Stack maw={WIDTH} aria-live="polite">
        {enablement ? (
          <Standing enablement={enablement} />
        ) : error ? (
          <Paper>
            <FailureState error={error} onRetry={refetch} />
          </Paper>
        ) : (
          <Skeleton h={320} radius="lg" />
        )}
      </Stack>
    </>
  );
}

function Standing({ enablement: { enabled, request, contact } }: { enablement: Enablement }) {
  if (enabled) return <Granted />;
  return (
    <>
      {request && <RequestCard request={request} />}
      {request?.state !== 'pending' && <AskForm again={Boolean(request)} />}
      <Contact contact={contact} />
    </>
  );
}
