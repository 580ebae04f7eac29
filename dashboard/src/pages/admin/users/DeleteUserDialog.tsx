import { Text } from '@mantine/core';
import type { RefObject } from 'react';
import { useDeleteUser } from '../../../api/adminUsers';
import { ConfirmDialog } from '../../../shared/ConfirmDialog';
import { texts } from '../../../texts';
import type { UserDialogProps } from './UserDialogs';

const words = texts.adminUsers.deleteDialog;

interface Props extends UserDialogProps {
  focusAfterDelete?: RefObject<HTMLElement | null>;
  onDeleted?: () => void;
}

export function DeleteUserDialog({ user, opened, focusAfterDelete, onDeleted, onClose }: Props) {
  return (
    <ConfirmDialog
      opened={opened}
      title={words.title(user.username)}
      actionLabel={words.submit}
      mutation={useDeleteUser()}
      variables={user.id}
      successMessage={() => words.done(user.username)}
      onSuccess={onDeleted}
      focusAfterSuccess={focusAfterDelete}
      onClose={onClose}
    >
      {words.hint}
      <Text fw={600} mt="sm">
        {words.permanent}
      </Text>
    </ConfirmDialog>
  );
}
