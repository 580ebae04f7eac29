import { Button, Group, Modal, Select, Stack, Text, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useCreateAccessToken } from '../../../api/accessTokens';
import { FailureMessage } from '../../../shared/FailureMessage';
import { texts } from '../../../texts';
import { expiresAt, type Lifetime, lifetimes } from './lifetime';

interface Props {
  opened: boolean;
  onCreated: (token: string) => void;
  onClose: () => void;
}

const words = texts.profile.accessTokens;
const choices = lifetimes.map((days) => ({ value: days, label: words.lifetimes[days] }));

export function CreateAccessTokenDialog({ opened, onCreated, onClose }: Props) {
  return (
    <Modal opened={opened} onClose={onClose} title={words.createTitle}>
      <CreateAccessTokenForm onCreated={onCreated} onClose={onClose} />
    </Modal>
  );
}

function CreateAccessTokenForm({ onCreated, onClose }: Omit<Props, 'opened'>) {
  const create = useCreateAccessToken();
  const [name, setName] = useState('');
  const [lifetime, setLifetime] = useState<Lifetime>('0');

  function send(event: FormEvent) {
    event.preventDefault();
    create.mutate(
      { name, expires_at: expiresAt(lifetime, Math.floor(Date.now() / 1000)) },
      {
        onSuccess: ({ token }) => {
          onClose();
          if (token) onCreated(token);
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
          onChange={(chosen: Lifetime | null) => chosen && setLifetime(chosen)}
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
