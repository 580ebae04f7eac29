import { Text } from '@mantine/core';
import type { RefObject } from 'react';
import { useDeleteTokens } from '../../../api/tokenChanges';
import type { Token } from '../../../api/tokens';
import { ConfirmDialog } from '../../../shared/ConfirmDialog';
import { useLastDefined } from '../../../shared/useLastDefined';
import { texts } from '../../../texts';
import { KeyNames } from './KeyNames';
import { useRestoreKeys } from './useRestoreKeys';

interface Props {
  /** The dialog is open while this is defined. */
  tokens: Token[] | undefined;
  onDeleted?: (tokens: Token[]) => void;
  focusAfterDelete?: RefObject<HTMLElement | null>;
  onClose: () => void;
}

const words = texts.keys.delete;

export function DeleteKeysDialog({ tokens, onDeleted, focusAfterDelete, onClose }: Props) {
  const shown = useLastDefined(tokens) ?? [];
  const { restoreAgain } = useRestoreKeys();
  return (
    <ConfirmDialog
      opened={tokens !== undefined}
      title={words.title(shown.length)}
      actionLabel={words.confirm(shown.length)}
      mutation={useDeleteTokens()}
      variables={shown}
      successMessage={words.done}
      onUndo={() => restoreAgain(shown)}
      onSuccess={() => onDeleted?.(shown)}
      focusAfterSuccess={focusAfterDelete}
      onClose={onClose}
    >
      <KeyNames tokens={shown} />
      <Text>{shown.length === 1 ? words.warningOne : words.warning}</Text>
    </ConfirmDialog>
  );
}
