import type { User } from '../../../api/session';
import { DeleteUserDialog } from './DeleteUserDialog';
import { DisableUserDialog } from './DisableUserDialog';
import { EditUserDialog } from './EditUserDialog';
import { PasswordDialog } from './PasswordDialog';
import { WalletDialog } from './WalletDialog';

export type UserDialog = 'edit' | 'wallet' | 'password' | 'disable' | 'delete';

export interface UserDialogProps {
  user: User;
  opened: boolean;
  onClose: () => void;
}

interface Props {
  dialog: UserDialog | undefined;
  user: User;
  onClose: () => void;
}

/** The dialogs about one account, of which at most one is open. */
export function UserDialogs({ dialog, user, onClose }: Props) {
  const about = (name: UserDialog) => ({ user, opened: dialog === name, onClose });
  return (
    <>
      <EditUserDialog {...about('edit')} />
      <WalletDialog {...about('wallet')} />
      <PasswordDialog {...about('password')} />
      <DisableUserDialog {...about('disable')} />
      <DeleteUserDialog {...about('delete')} />
    </>
  );
}
