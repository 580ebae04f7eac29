import { Button, PasswordInput, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { Redirect, useSearch } from 'wouter';
import { useSession, useSignIn } from '../../api/session';
import { useStatus } from '../../api/status';
import { nextPath } from '../../shell/next';
import { texts } from '../../texts';
import { EntryFrame } from './EntryFrame';

export default function SignInPage() {
  const search = useSearch();
  const session = useSession();
  const status = useStatus();
  const signIn = useSignIn();
  const [username, setUsername] = useState('');
  const [password, setPassword] = useState('');
  const { title, submit, noAccount, toRegister, ...labels } = texts.signIn;

  if (session.data) return <Redirect to={nextPath(search)} replace />;

  function send(event: FormEvent) {
    event.preventDefault();
    signIn.mutate({ username, password });
  }

  const register = {
    question: noAccount,
    label: toRegister,
    href: search ? `/register?${search}` : '/register',
  };
  return (
    <EntryFrame title={title} failure={signIn.error} other={status.data?.registration ? register : undefined}>
      <form onSubmit={send}>
        <Stack>
          <TextInput
            label={labels.username}
            name="username"
            autoComplete="username"
            autoCapitalize="none"
            spellCheck={false}
            autoFocus
            required
            withAsterisk={false}
            value={username}
            onChange={(event) => setUsername(event.currentTarget.value)}
          />
          <PasswordInput
            label={labels.password}
            name="password"
            autoComplete="current-password"
            required
            withAsterisk={false}
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
          />
          <Button type="submit" fullWidth mt="xs" loading={signIn.isPending}>
            {submit}
          </Button>
        </Stack>
      </form>
    </EntryFrame>
  );
}
