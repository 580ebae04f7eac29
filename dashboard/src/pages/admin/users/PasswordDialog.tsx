import { Modal, Text } from '@mantine/core';
import { useState } from 'react';
import { useEditUser } from '../../../api/adminUsers';
import type { User } from '../../../api/session';
import { notifySuccess } from '../../../shared/notify';
import { SecretDialog } from '../../../shared/SecretDialog';
import { useSecretDialog } from '../../../shared/useSecretDialog';
import { texts } from '../../../texts';
import { DialogForm } from '../shared/DialogForm';
import { PasswordField } from './PasswordField';
import { isTooShort } from './password';
import type { UserDialogProps } from './UserDialogs';

const words = texts.adminUsers.passwordDialog;

export function PasswordDialog({ user, opened, onClose }: UserDialogProps) {
  const { secret, keep, show, forget } = useSecretDialog<string>();

  function done(password: string | undefined) {
    onClose();
    if (password) keep(password);
    else notifySuccess(words.done(user.username));
  }

  return (
    <>
      <Modal
        opened={opened}
        onClose={onClose}
        onExitTransitionEnd={show}
        title={words.title(user.username)}
        closeOnClickOutside={false}
      >
        <PasswordForm user={user} onDone={done} onCancel={onClose} />
      </Modal>
      <SecretDialog
        title={texts.adminUsers.createDialog.passwordOf(user.username)}
        hint={texts.adminUsers.createDialog.passwordHint}
        secret={secret}
        onClose={forget}
      />
    </>
  );
}

interface FormProps {
  user: User;
  onDone: (generated: string | undefined) => void;
  onCancel: () => void;
}

function PasswordForm({ user, onDone, onCancel }: FormProps) {
  const edit = useEditUser();
  const [password, setPassword] = useState({ text: '', isGenerated: false });
  const [isSent, setSent] = useState(false);
  const isWrong = isTooShort(password.text);

  function send() {
    setSent(true);
    if (isWrong) return;
    edit.mutate(
      { id: user.id, patch: { password: password.text } },
      { onSuccess: () => onDone(password.isGenerated ? password.text : undefined) },
    );
  }

  return (
    <DialogForm
      submitLabel={words.submit}
      pending={edit.isPending}
      failure={edit.error}
      onSubmit={send}
      onCancel={onCancel}
    >
      <Text>{words.hint}</Text>
      <PasswordField
        label={texts.adminUsers.password.label}
        isFirst
        value={password.text}
        error={isSent && isWrong ? texts.adminUsers.password.tooShort : undefined}
        onChange={(text, isGenerated) => setPassword({ text, isGenerated })}
      />
    </DialogForm>
  );
}
