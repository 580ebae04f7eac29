import { Button } from '@mantine/core';
import { IconReload } from '@tabler/icons-react';
import { EmptyState } from '../shared/EmptyState';
import { PageHeader } from '../shared/PageHeader';
import { texts } from '../texts';
import { PageSkeleton } from './PageSkeleton';
import { useReloadAfterOutage } from './useReloadAfterOutage';

/** The messages of browsers if the file of a page did not load: the server is away, or has been updated and has others. */
const STALE = /dynamically imported module|module script failed|unable to preload/i;

export function CrashedPage({ error }: { error: Error }) {
  const { title, hint, stale, reload } = texts.shell.crashed;
  const isStale = STALE.test(error.message);
  const isWaiting = useReloadAfterOutage(isStale);
  if (isWaiting) return <PageSkeleton />;
  return (
    <>
      <PageHeader title={title} />
      <EmptyState
        title={isStale ? stale : hint}
        action={
          <Button leftSection={<IconReload size={18} />} onClick={() => window.location.reload()}>
            {reload}
          </Button>
        }
      />
    </>
  );
}
