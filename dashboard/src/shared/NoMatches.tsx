import { Button } from '@mantine/core';
import { IconSearchOff } from '@tabler/icons-react';
import { texts } from '../texts';
import { EmptyState } from './EmptyState';

/** Shown if no row matches the filters. */
export function NoMatches({ onClear }: { onClear: () => void }) {
  const { title, hint, clear } = texts.adminLists.noMatches;
  const action = (
    <Button variant="default" onClick={onClear}>
      {clear}
    </Button>
  );
  return <EmptyState icon={IconSearchOff} title={title} hint={hint} action={action} />;
}
