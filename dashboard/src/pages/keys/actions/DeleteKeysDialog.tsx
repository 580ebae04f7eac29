import { List, Text } from '@mantine/core';
import { useDeleteTokens } from '../../../api/tokenChanges';
import type { Token } from '../../../api/tokens';
import { formatInteger } from '../../../format/money';
import { ConfirmDialog } from '../../../shared/ConfirmDialog';
import { notifySuccess } from '../../../shared/notify';
import { useLast } from '../../../shared/useLast';
import { texts } from '../../../texts';

interface Props {
  /** Open while there are some. */
  tokens: Token[] | undefined;
  onDeleted?: () => void;
  onClose: () => void;
}

const NAMED = 5;
const words = texts.keys.delete;

export function DeleteKeysDialog({ tokens, onDeleted, onClose }: Props) {
  const deleteTokens = useDeleteTokens();
  const shown = useLast(tokens) ?? [];
  const unnamed = shown.length - NAMED;

  function confirm() {
    deleteTokens.mutate(shown, {
      onSuccess: (count) => {
        notifySuccess(words.done(count));
        onClose();
        onDeleted?.();
      },
    });
  }

  return (
    <ConfirmDialog
      opened={tokens !== undefined}
      title={words.title(shown.length)}
      confirmLabel={words.confirm(shown.length)}
      dangerous
      mutation={deleteTokens}
      onConfirm={confirm}
      onClose={onClose}
    >
      <List mb="md" spacing={4} style={{ overflowWrap: 'anywhere' }}>
        {shown.slice(0, NAMED).map((token) => (
          <List.Item key={token.id}>
            <Text fw={600}>{token.name}</Text>
            <Text size="sm" c="dimmed" ff="monospace">
              {token.masked_key}
            </Text>
          </List.Item>
        ))}
        {unnamed > 0 && <List.Item>{words.more(formatInteger(unnamed))}</List.Item>}
      </List>
      <Text>{shown.length === 1 ? words.warningOne : words.warning}</Text>
    </ConfirmDialog>
  );
}
