import { Button, Group, Modal, Select, Stack, Text, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useCreateAccessToken } from '../../../api/accessTokens';
import { CodeExample } from '../../../shared/CodeExample';
import { FailureMessage } from '../../../shared/FailureMessage';
import { SecretDialog } from '../../../shared/SecretDialog';
import { useSecretDialog } from '../../../shared/useSecretDialog';
import { texts } from '../../../texts';
import { DEFAULT_LIFETIME, expiresAt, type Lifetime, lifetimes } from './lifetime';

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
  const [name, setName] = useState('');
  const [lifetime, setLifetime] = useState<Lifetime>(DEFAULT_LIFETIME);

  function send(event: FormEvent) {
    event.preventDefault();
    create.mutate(
      { name, expires_at: expiresAt(lifetime, Math.floor(Date.now() / 1000)) },
      {
        onSuccess: ({ token }) => {
          if (token) onCreated(token);
          onClose();
        },
      },
    );
  }

  return (
    <form onSubmit={send}>
      <Stack>
        <TextInput
          label={words.name}
          description={words.nameHint}
          name="name"
          autoComplete="off"
          data-autofocus
          required
          withAsterisk={false}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Select
          label={words.expires}
          data={choices}
          allowDeselect={false}
          value={lifetime}
          onChange={(selected: Lifetime | null) => selected && setLifetime(selected)}
        />
        {create.error && (
          <Text c="var(--mantine-color-error)" role="alert">
            <FailureMessage error={create.error} />
          </Text>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {texts.common.cancel}
          </Button>
          <Button type="submit" loading={create.isPending}>
            {words.create}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
