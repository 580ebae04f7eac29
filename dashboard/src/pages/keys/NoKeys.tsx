import { Button } from '@mantine/core';
import { IconKey, IconSearch } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { EmptyState } from '../../shared/EmptyState';
import { texts } from '../../texts';

interface Props {
  /** There may be keys, but none that fits. */
  filtered: boolean;
  onShowAll: () => void;
  createButton: ReactNode;
}

const { empty, nothingFound } = texts.keys;

export function NoKeys({ filtered, onShowAll, createButton }: Props) {
  if (!filtered) {
    return <EmptyState icon={IconKey} title={empty.title} hint={empty.hint} action={createButton} />;
  }
  const showAll = (
    <Button variant="default" onClick={onShowAll}>
      {nothingFound.clear}
    </Button>
  );
  return (
    <EmptyState icon={IconSearch} title={nothingFound.title} hint={nothingFound.hint} action={showAll} />
  );
}
