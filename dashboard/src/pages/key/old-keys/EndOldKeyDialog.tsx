import { Text } from '@mantine/core';
import type { RefObject } from 'react';
import { type OldKey, useEndOldKey } from '../../../api/oldKeys';
import { ConfirmDialog } from '../../../shared/ConfirmDialog';
import { RelativeTime } from '../../../shared/RelativeTime';
import { texts } from '../../../texts';

interface Props {
  tokenId: number;
  oldKey: OldKey;
  opened: boolean;
  /** Gets the focus afterwards, because the row of the key no longer exists. */
  focusAfterEnd: RefObject<HTMLElement | null>;
  onClose: () => void;
}

const words = texts.key.oldKeys;

export function EndOldKeyDialog({ tokenId, oldKey, opened, focusAfterEnd, onClose }: Props) {
  return (
    <ConfirmDialog
      opened={opened}
      title={words.endTitle}
      actionLabel={words.end}
      mutation={useEndOldKey(tokenId)}
      variables={oldKey.id}
      successMessage={() => words.endDone}
      focusAfterSuccess={focusAfterEnd}
      onClose={onClose}
    >
      <Text ff="monospace">{oldKey.masked_key}</Text>
      <Text size="sm" c="dimmed" mb="md">
        {oldKey.last_used_at ? (
          <RelativeTime seconds={oldKey.last_used_at} label={words.lastUsed} />
        ) : (
          words.notUsed
        )}
      </Text>
      <Text>{words.endHint}</Text>
    </ConfirmDialog>
  );
}
