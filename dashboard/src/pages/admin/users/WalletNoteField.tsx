import { TextInput, type TextInputProps } from '@mantine/core';
import { texts } from '../../../texts';
import { MAX_WALLET_NOTE } from './wallet';

const words = texts.adminUsers.walletDialog;

/** The note of a change of a wallet. */
export function WalletNoteField(props: TextInputProps) {
  return (
    <TextInput
      label={words.note}
      description={words.noteHint}
      autoComplete="off"
      maxLength={MAX_WALLET_NOTE}
      {...props}
    />
  );
}
