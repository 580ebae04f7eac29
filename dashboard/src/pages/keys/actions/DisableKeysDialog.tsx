import { Text } from '@mantine/core';
import { isSwitchedOn, useSwitchTokens } from '../../../api/tokenSwitch';
import type { Token } from '../../../api/tokens';
import { ConfirmDialog } from '../../../shared/ConfirmDialog';
import { useLastDefined } from '../../../shared/useLastDefined';
import { texts } from '../../../texts';
import { KeyNames } from './KeyNames';

interface Props {
  /** The dialog is open while this is defined. */
  tokens: Token[] | undefined;
  onDisabled?: () => void;
  onUndo: (tokens: Token[]) => void;
  onClose: () => void;
}

const words = texts.keys.disable;

/** Asks before several keys are disabled. */
export function DisableKeysDialog({ tokens, onDisabled, onUndo, onClose }: Props) {
  const shown = useLastDefined(tokens) ?? [];
  // Undo enables no key that was disabled before.
  const enabled = shown.filter(isSwitchedOn);
  return (
    <ConfirmDialog
      opened={tokens !== undefined}
      title={words.title(shown.length)}
      actionLabel={words.confirm(shown.length)}
      mutation={useSwitchTokens()}
      variables={{ tokens: shown, on: false }}
      successMessage={() => words.done(shown.length)}
      onUndo={enabled.length > 0 ? () => onUndo(enabled) : undefined}
      onSuccess={onDisabled}
      onClose={onClose}
    >
      <KeyNames tokens={shown} />
      <Text>{words.warning}</Text>
    </ConfirmDialog>
  );
}
