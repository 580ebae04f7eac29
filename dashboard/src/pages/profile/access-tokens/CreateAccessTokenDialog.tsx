import { Select, TextInput } from '@mantine/core';
import { useCreateAccessToken } from '../../../api/accessTokens';
import { CodeExample } from '../../../shared/CodeExample';
import { SecretFormDialog } from '../../../shared/form/SecretFormDialog';
import { SendForm } from '../../../shared/form/SendForm';
import { useSendForm } from '../../../shared/form/useSendForm';
import { texts } from '../../../texts';
import { DEFAULT_LIFETIME, expiresAt, lifetimes } from './lifetime';

const words = texts.profile.accessTokens;
const choices = lifetimes.map((days) => ({ value: days, label: words.lifetimes[days] }));

export function CreateAccessTokenDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  return (
    <SecretFormDialog<string>
      opened={opened}
      onClose={onClose}
      title={words.createTitle}
      form={(onDone) => <CreateAccessTokenForm onDone={onDone} onCancel={onClose} />}
      secret={(token) => ({
        title: words.secretTitle,
        secret: token,
        children: token && (
          <CodeExample title={words.example} code={exampleOf(token)} copyLabel={words.copyExample} />
        ),
      })}
    />
  );
}

function exampleOf(token: string): string {
  return `curl ${window.location.origin}/api/user/self \\\n  -H "Authorization: Bearer ${token}"`;
}

interface FormProps {
  onDone: (token?: string) => void;
  onCancel: () => void;
}

function CreateAccessTokenForm({ onDone, onCancel }: FormProps) {
  const create = useCreateAccessToken();
  const { form, ...sending } = useSendForm({
    initialValues: { name: '', lifetime: DEFAULT_LIFETIME },
    mutation: create,
    send: ({ name, lifetime }) =>
      create.mutate(
        { name, expires_at: expiresAt(lifetime, Math.floor(Date.now() / 1000)) },
        { onSuccess: ({ token }) => onDone(token ?? undefined) },
      ),
  });

  return (
    <SendForm sending={sending} submitLabel={words.create} withBrowserChecks onCancel={onCancel}>
      <TextInput
        label={words.name}
        description={words.nameHint}
        name="name"
        autoComplete="off"
        data-autofocus
        required
        withAsterisk={false}
        {...form.getInputProps('name')}
      />
      <Select
        label={words.expires}
        data={choices}
        allowDeselect={false}
        {...form.getInputProps('lifetime')}
      />
    </SendForm>
  );
}
