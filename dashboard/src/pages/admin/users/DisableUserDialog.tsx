import { useEditUser } from '../../../api/adminUsers';
import { ConfirmDialog } from '../../../shared/ConfirmDialog';
import { notifySuccess } from '../../../shared/notify';
import { texts } from '../../../texts';
import { DISABLED } from './status';
import type { UserDialogProps } from './UserDialogs';

const words = texts.adminUsers.disableDialog;

export function DisableUserDialog({ user, opened, onClose }: UserDialogProps) {
  const edit = useEditUser();

  function close() {
    edit.reset();
    onClose();
  }

  function confirm() {
    edit.mutate(
      { id: user.id, patch: { status: DISABLED } },
      {
        onSuccess: () => {
          notifySuccess(words.done(user.username));
          close();
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
      pending={edit.isPending}
      failure={edit.error}
      onConfirm={confirm}
      onClose={close}
    >
      {words.hint}
    </ConfirmDialog>
  );
}
