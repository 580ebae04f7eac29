import { Paper, Skeleton, Stack } from '@mantine/core';
import { type Enablement, useEnablement } from '../../api/enablement';
import { Contact } from '../../shared/Contact';
import { FailureState } from '../../shared/FailureState';
import { PageHeader } from '../../shared/PageHeader';
import { texts } from '../../texts';
import { EnabledCard } from './EnabledCard';
import { RequestCard } from './RequestCard';
import { RequestForm } from './RequestForm';

const words = texts.enablement;
const WIDTH = 680;

export default function EnablementPage() {
  const { data: enablement, error, refetch } = useEnablement();
  return (
    <>
      <PageHeader title={words.title} description={words.description} />
      <Stack maw={WIDTH} aria-live="polite">
        {enablement ? (
          <EnablementStatus enablement={enablement} />
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

function EnablementStatus({ enablement: { enabled, request, contact } }: { enablement: Enablement }) {
  if (enabled) return <EnabledCard />;
  return (
    <>
      {request && <RequestCard request={request} />}
      {request?.state !== 'pending' && <RequestForm again={Boolean(request)} />}
      <Contact question={words.contact} contact={contact} />
    </>
  );
}
