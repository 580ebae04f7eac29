import { Button } from '@mantine/core';
import { IconKey, IconSearch } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { EmptyState } from '../../shared/EmptyState';
import { texts } from '../../texts';

interface Props {
  /** The list is empty because of the search or the status filter. */
  filtered: boolean;
  onShowAll: () => void;
  createButton: ReactNode;
}

const { empty, noMatches } = texts.keys;

export function NoKeys({ filtered, onShowAll, createButton }: Props) {
  if (!filtered) {
    return <EmptyState icon={IconKey} title={empty.title} hint={empty.hint} action={createButton} />;
  }
  const showAll = (
    <Button variant="default" onClick={onShowAll}>
      {noMatches.clear}
    </Button>
  );
  return <EmptyState icon={IconSearch} title={noMatches.title} hint={noMatches.hint} action={showAll} />;
}
