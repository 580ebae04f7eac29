import { TextInput } from '@mantine/core';
import { useEditAccount } from '../../api/account';
import { useUser } from '../../api/session';
import { atField } from '../../shared/form/atField';
import { SendForm } from '../../shared/form/SendForm';
import { useSendForm } from '../../shared/form/useSendForm';
import { notifySuccess } from '../../shared/notify';
import { Section } from '../../shared/Section';
import { texts } from '../../texts';

const words = texts.profile.about;

export function AboutSection() {
  const user = useUser();
  const edit = useEditAccount();
  const { form, ...sending } = useSendForm({
    initialValues: { display_name: user.display_name, email: user.email },
    mutation: edit,
    // The server checks the email address.
    refusals: atField({ invalid_text: 'display_name', invalid_email: 'email' }),
    send: (values) =>
      edit.mutate(values, {
        onSuccess: ({ display_name, email }) => {
          form.setValues({ display_name, email });
          notifySuccess(words.saved);
        },
      }),
  });
  const { display_name, email } = form.values;
  const isChanged = display_name.trim() !== user.display_name || email.trim() !== user.email;

  return (
    <Section title={words.title}>
      <SendForm sending={sending} submitLabel={texts.common.save} disabled={!isChanged}>
        <TextInput
          label={words.displayName}
          description={words.displayNameHint}
          name="display_name"
          autoComplete="name"
          {...form.getInputProps('display_name')}
        />
        <TextInput
          label={words.email}
          description={words.emailHint}
          name="email"
          type="email"
          autoComplete="email"
          {...form.getInputProps('email')}
        />
      </SendForm>
    </Section>
  );
}
