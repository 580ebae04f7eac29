import { useEditUser } from '../../../api/adminUsers';
import { ConfirmDialog } from '../../../shared/ConfirmDialog';
import { texts } from '../../../texts';
import { DISABLED } from './status';
import type { UserDialogProps } from './UserDialogs';
import { useEnableUser } from './useEnableUser';

const words = texts.adminUsers.disableDialog;

export function DisableUserDialog({ user, opened, onClose }: UserDialogProps) {
  const enable = useEnableUser();
  return (
    <ConfirmDialog
      opened={opened}
      title={words.title(user.username)}
      actionLabel={words.submit}
      mutation={useEditUser()}
      variables={{ id: user.id, patch: { status: DISABLED } }}
      successMessage={() => words.done(user.username)}
      onUndo={enable}
      onClose={onClose}
    >
      {words.hint}
    </ConfirmDialog>
  );
}
