import { List, Text } from '@mantine/core';
import type { RefObject } from 'react';
import { useDeleteTokens } from '../../../api/tokenChanges';
import type { Token } from '../../../api/tokens';
import { formatInteger } from '../../../format/money';
import { ConfirmDialog } from '../../../shared/ConfirmDialog';
import { useLastDefined } from '../../../shared/useLastDefined';
import { texts } from '../../../texts';

interface Props {
  /** The dialog is open while this is defined. */
  tokens: Token[] | undefined;
  onDeleted?: () => void;
  focusAfterDelete?: RefObject<HTMLElement | null>;
  onClose: () => void;
}

const MAX_LISTED = 5;
const words = texts.keys.delete;

export function DeleteKeysDialog({ tokens, onDeleted, focusAfterDelete, onClose }: Props) {
  const shown = useLastDefined(tokens) ?? [];
  const unlisted = shown.length - MAX_LISTED;
  return (
    <ConfirmDialog
      opened={tokens !== undefined}
      title={words.title(shown.length)}
      actionLabel={words.confirm(shown.length)}
      mutation={useDeleteTokens()}
      variables={shown}
      successMessage={words.done}
      onSuccess={onDeleted}
      focusAfterSuccess={focusAfterDelete}
      onClose={onClose}
    >
      <List mb="md" spacing={4} style={{ overflowWrap: 'anywhere' }}>
        {shown.slice(0, MAX_LISTED).map((token) => (
          <List.Item key={token.id}>
            <Text fw={600}>{token.name}</Text>
            <Text size="sm" c="dimmed" ff="monospace">
              {token.masked_key}
            </Text>
          </List.Item>
        ))}
        {unlisted > 0 && <List.Item>{words.more(formatInteger(unlisted))}</List.Item>}
      </List>
      <Text>{shown.length === 1 ? words.warningOne : words.warning}</Text>
    </ConfirmDialog>
  );
}
