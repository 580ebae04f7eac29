import { Text } from '@mantine/core';
import type { Outcome } from '../../../api/sendEach';
import { useSwitchTokens } from '../../../api/tokenSwitch';
import type { Token } from '../../../api/tokens';
import { ConfirmDialog } from '../../../shared/ConfirmDialog';
import { useLastDefined } from '../../../shared/useLastDefined';
import { texts } from '../../../texts';
import { KeyNames } from './KeyNames';

interface Props {
  /** The dialog is open while this is defined. */
  tokens: Token[] | undefined;
  onDisabled: (result: Outcome) => void;
  onUndo: (tokens: Token[]) => void;
  onClose: () => void;
}

const words = texts.keys.disable;

/** Asks before several keys are disabled. */
export function DisableKeysDialog({ tokens, onDisabled, onUndo, onClose }: Props) {
  const shown = useLastDefined(tokens) ?? [];
  return (
    <ConfirmDialog
      opened={tokens !== undefined}
      title={words.title(shown.length)}
      actionLabel={words.confirm(shown.length)}
      mutation={useSwitchTokens()}
      variables={{ tokens: shown, on: false }}
      successMessage={({ done }) => words.done(done.length)}
      onUndo={({ done }) => onUndo(done)}
      onSuccess={onDisabled}
      onClose={onClose}
    >
      <KeyNames tokens={shown} />
      <Text>{words.warning}</Text>
    </ConfirmDialog>
  );
}
