import { PasswordInput, Text } from '@mantine/core';
import { useChangePassword } from '../../api/account';
import { useUser } from '../../api/session';
import { atField } from '../../shared/form/atField';
import { SendForm } from '../../shared/form/SendForm';
import { useSendForm } from '../../shared/form/useSendForm';
import { notifySuccess } from '../../shared/notify';
import { Section } from '../../shared/Section';
import { texts } from '../../texts';

const words = texts.profile.password;

export function PasswordSection() {
  const { username } = useUser();
  const change = useChangePassword();
  const { form, ...sending } = useSendForm({
    initialValues: { old: '', new: '', repeat: '' },
    validate: (typed, submitted) => ({
      repeat: submitted && typed.new !== typed.repeat && words.different,
    }),
    mutation: change,
    refusals: atField({ wrong_password: 'old', invalid_password: 'new' }),
    send: (typed) =>
      change.mutate(
        { username, oldPassword: typed.old, newPassword: typed.new },
        {
          onSuccess: (user) => {
            sending.reset();
            notifySuccess(user ? words.changed : words.changedSignInAgain);
          },
        },
      ),
  });

  return (
    <Section title={words.title}>
      <SendForm sending={sending} submitLabel={words.submit} withBrowserChecks>
        {/* Lets password managers assign the password to the account. */}
        <input type="text" name="username" autoComplete="username" value={username} readOnly hidden />
        <PasswordInput
          label={words.old}
          name="old_password"
          autoComplete="current-password"
          required
          withAsterisk={false}
          {...form.getInputProps('old')}
        />
        <PasswordInput
          label={words.new}
          description={words.newHint}
          name="new_password"
          autoComplete="new-password"
          required
          withAsterisk={false}
          {...form.getInputProps('new')}
        />
        <PasswordInput
          label={words.repeat}
          name="repeat_password"
          autoComplete="new-password"
          required
          withAsterisk={false}
          {...form.getInputProps('repeat')}
        />
        <Text size="sm" c="dimmed">
          {words.consequences}
        </Text>
      </SendForm>
    </Section>
  );
}
