import type { RefObject } from 'react';
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
  /** The path of the input of `edit` that gets the focus. */
  startsAt?: string;
  focusAfterDelete?: RefObject<HTMLElement | null>;
  onDeleted?: () => void;
  onClose: () => void;
}

/** The dialogs of one account. At most one is open. */
export function UserDialogs({ dialog, user, startsAt, focusAfterDelete, onDeleted, onClose }: Props) {
  const propsOf = (name: UserDialog) => ({ user, opened: dialog === name, onClose });
  return (
    <>
      <EditUserDialog {...propsOf('edit')} startsAt={startsAt} />
      <WalletDialog {...propsOf('wallet')} />
      <PasswordDialog {...propsOf('password')} />
      <DisableUserDialog {...propsOf('disable')} />
      <DeleteUserDialog {...propsOf('delete')} focusAfterDelete={focusAfterDelete} onDeleted={onDeleted} />
    </>
  );
}
