import { Modal, Select, TextInput } from '@mantine/core';
import { useCreateAccessToken } from '../../../api/accessTokens';
import { CodeExample } from '../../../shared/CodeExample';
import { SendForm } from '../../../shared/form/SendForm';
import { useSendForm } from '../../../shared/form/useSendForm';
import { SecretDialog } from '../../../shared/SecretDialog';
import { useSecretDialog } from '../../../shared/useSecretDialog';
import { texts } from '../../../texts';
import { DEFAULT_LIFETIME, expiresAt, lifetimes } from './lifetime';

const words = texts.profile.accessTokens;
const choices = lifetimes.map((days) => ({ value: days, label: words.lifetimes[days] }));

export function CreateAccessTokenDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { secret: token, keep, show, forget } = useSecretDialog<string>();
  const example = `curl ${window.location.origin}/api/user/self \\\n  -H "Authorization: Bearer ${token}"`;
  return (
    <>
      <Modal opened={opened} onClose={onClose} onExitTransitionEnd={show} title={words.createTitle}>
        <CreateAccessTokenForm onCreated={keep} onClose={onClose} />
      </Modal>
      <SecretDialog title={words.secretTitle} secret={token} onClose={forget}>
        {token && <CodeExample title={words.example} code={example} copyLabel={words.copyExample} />}
      </SecretDialog>
    </>
  );
}

interface FormProps {
  onCreated: (token: string) => void;
  onClose: () => void;
}

function CreateAccessTokenForm({ onCreated, onClose }: FormProps) {
  const create = useCreateAccessToken();
  const { form, ...sending } = useSendForm({
    initialValues: { name: '', lifetime: DEFAULT_LIFETIME },
    mutation: create,
    send: ({ name, lifetime }) =>
      create.mutate(
        { name, expires_at: expiresAt(lifetime, Math.floor(Date.now() / 1000)) },
        {
          onSuccess: ({ token }) => {
            if (token) onCreated(token);
            onClose();
          },
        },
      ),
  });

  return (
    <SendForm sending={sending} submitLabel={words.create} withBrowserChecks onCancel={onClose}>
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
