import { useEditUser } from '../../../api/adminUsers';
import { ConfirmDialog } from '../../../shared/ConfirmDialog';
import { notifySuccess } from '../../../shared/notify';
import { texts } from '../../../texts';
import { DISABLED } from './status';
import type { UserDialogProps } from './UserDialogs';

const words = texts.adminUsers.disableDialog;

export function DisableUserDialog({ user, opened, onClose }: UserDialogProps) {
  const edit = useEditUser();

  function confirm() {
    edit.mutate(
      { id: user.id, patch: { status: DISABLED } },
      {
        onSuccess: () => {
          notifySuccess(words.done(user.username));
          onClose();
        },
      },
    );
  }

  return (
    <ConfirmDialog
      opened={opened}
      title={words.title(user.username)}
      confirmLabel={words.submit}
      dangerous
      mutation={edit}
      onConfirm={confirm}
      onClose={onClose}
    >
      {words.hint}
    </ConfirmDialog>
  );
}
