import { Button } from '@mantine/core';
import { IconSearchOff } from '@tabler/icons-react';
import { EmptyState } from '../../../shared/EmptyState';
import { texts } from '../../../texts';

/** In place of a list that its filters leave empty. */
export function NoMatches({ onClear }: { onClear: () => void }) {
  const { title, hint, clear } = texts.adminLists.noMatches;
  const action = (
    <Button variant="default" onClick={onClear}>
      {clear}
    </Button>
  );
  return <EmptyState icon={IconSearchOff} title={title} hint={hint} action={action} />;
}
