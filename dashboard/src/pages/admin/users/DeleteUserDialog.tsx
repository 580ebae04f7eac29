import { Text } from '@mantine/core';
import { useDeleteUser } from '../../../api/adminUsers';
import { ConfirmDialog } from '../../../shared/ConfirmDialog';
import { notifySuccess } from '../../../shared/notify';
import { texts } from '../../../texts';
import type { UserDialogProps } from './UserDialogs';

const words = texts.adminUsers.deleteDialog;

export function DeleteUserDialog({ user, opened, onClose }: UserDialogProps) {
  const remove = useDeleteUser();

  function confirm() {
    remove.mutate(user.id, {
      onSuccess: () => {
        notifySuccess(words.done(user.username));
        onClose();
      },
    });
  }

  return (
    <ConfirmDialog
      opened={opened}
      title={words.title(user.username)}
      confirmLabel={words.submit}
      dangerous
      mutation={remove}
      onConfirm={confirm}
      onClose={onClose}
    >
      {words.hint}
      <Text fw={600} mt="sm">
        {words.forGood}
      </Text>
    </ConfirmDialog>
  );
}
