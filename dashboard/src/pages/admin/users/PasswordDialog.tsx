import { Modal, Text } from '@mantine/core';
import { useEditUser } from '../../../api/adminUsers';
import type { User } from '../../../api/session';
import { SendForm } from '../../../shared/form/SendForm';
import { useSendForm } from '../../../shared/form/useSendForm';
import { notifySuccess } from '../../../shared/notify';
import { SecretDialog } from '../../../shared/SecretDialog';
import { useSecretDialog } from '../../../shared/useSecretDialog';
import { texts } from '../../../texts';
import { PasswordField } from './PasswordField';
import { isTooShort, noPassword } from './password';
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
  const { form, ...sending } = useSendForm({
    initialValues: { password: noPassword },
    validate: ({ password }, submitted) => ({
      password: submitted && isTooShort(password.text) && texts.adminUsers.password.tooShort,
    }),
    mutation: edit,
    send: ({ password: { text, isGenerated } }) =>
      edit.mutate(
        { id: user.id, patch: { password: text } },
        { onSuccess: () => onDone(isGenerated ? text : undefined) },
      ),
  });

  return (
    <SendForm sending={sending} submitLabel={words.submit} onCancel={onCancel}>
      <Text>{words.hint}</Text>
      <PasswordField {...form.getInputProps('password')} value={form.values.password} isFirst />
    </SendForm>
  );
}
