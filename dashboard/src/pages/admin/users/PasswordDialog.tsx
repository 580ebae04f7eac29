import { Text } from '@mantine/core';
import { useEditUser } from '../../../api/adminUsers';
import type { User } from '../../../api/session';
import { SecretFormDialog } from '../../../shared/form/SecretFormDialog';
import { SendForm } from '../../../shared/form/SendForm';
import { useSendForm } from '../../../shared/form/useSendForm';
import { notifySuccess } from '../../../shared/notify';
import { texts } from '../../../texts';
import { PasswordField } from './PasswordField';
import { isTooShort, noPassword } from './password';
import type { UserDialogProps } from './UserDialogs';
import { type Account, useHandOver } from './useHandOver';

const words = texts.adminUsers.passwordDialog;

export function PasswordDialog({ user, opened, onClose }: UserDialogProps) {
  const handOver = useHandOver();
  return (
    <SecretFormDialog<Account>
      opened={opened}
      onClose={onClose}
      title={words.title(user.username)}
      form={(onDone) => <PasswordForm user={user} onDone={onDone} onCancel={onClose} />}
      secret={handOver}
    />
  );
}

interface FormProps {
  user: User;
  onDone: (generated?: Account) => void;
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
        {
          onSuccess: () => {
            if (isGenerated) return onDone({ username: user.username, password: text });
            onDone();
            notifySuccess(words.done(user.username));
          },
        },
      ),
  });

  return (
    <SendForm sending={sending} submitLabel={words.submit} onCancel={onCancel}>
      <Text>{words.hint}</Text>
      <PasswordField {...form.getInputProps('password')} value={form.values.password} isFirst />
    </SendForm>
  );
}
