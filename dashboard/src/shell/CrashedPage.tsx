import { Button } from '@mantine/core';
import { IconReload } from '@tabler/icons-react';
import { EmptyState } from '../shared/EmptyState';
import { PageHeader } from '../shared/PageHeader';
import { texts } from '../texts';

/** The messages of browsers if the file of a page does not exist any more, as after an update of the server. */
const STALE = /dynamically imported module|module script failed|unable to preload/i;

export function CrashedPage({ error }: { error: Error }) {
  const { title, hint, stale, reload } = texts.shell.crashed;
  return (
    <>
      <PageHeader title={title} />
      <EmptyState
        title={STALE.test(error.message) ? stale : hint}
        action={
          <Button leftSection={<IconReload size={18} />} onClick={() => window.location.reload()}>
            {reload}
          </Button>
        }
      />
    </>
  );
}
