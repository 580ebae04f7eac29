import { Button, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { Redirect, useSearch } from 'wouter';
import { useRegister, useSession, useSignIn } from '../../api/session';
import { useStatus } from '../../api/status';
import { FailureMessage } from '../../shared/FailureMessage';
import { homeOf, nextPath } from '../../shell/nextPath';
import { texts } from '../../texts';
import { AuthLayout } from './AuthLayout';
import { UsernameInput } from './UsernameInput';

export default function RegisterPage() {
  const search = useSearch();
  const session = useSession();
  const status = useStatus();
  const register = useRegister();
  const signIn = useSignIn();
  const [username, setUsername] = useState('');
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const words = texts.signIn.register;

  if (session.data) return <Redirect to={nextPath(search, homeOf(session.data))} replace />;

  function send(event: FormEvent) {
    event.preventDefault();
    register.mutate(
      { username, password, email: email || undefined },
      { onSuccess: () => signIn.mutate({ username, password }) },
    );
  }

  const failure = register.error ?? signIn.error;
  const other = {
    question: words.haveAccount,
    label: words.toSignIn,
    href: search ? `/sign-in?${search}` : '/sign-in',
  };
  return (
    <AuthLayout
      title={words.title}
      failure={failure && <FailureMessage error={failure} />}
      other={other}
      question={texts.enablement.contact}
    >
      {status.data?.registration === false ? (
        <Text>{words.closed}</Text>
      ) : (
        <form onSubmit={send}>
          <Stack>
            <UsernameInput description={words.usernameHint} value={username} onChange={setUsername} />
            <TextInput
              label={words.email}
              description={words.emailHint}
              name="email"
              type="email"
              autoComplete="email"
              value={email}
              onChange={(event) => setEmail(event.currentTarget.value)}
            />
            <PasswordInput
              label={texts.signIn.password}
              description={words.passwordHint}
              name="password"
              autoComplete="new-password"
              required
              withAsterisk={false}
              value={password}
              onChange={(event) => setPassword(event.currentTarget.value)}
            />
            <Button type="submit" fullWidth mt="xs" loading={register.isPending || signIn.isPending}>
              {words.submit}
            </Button>
          </Stack>
        </form>
      )}
    </AuthLayout>
  );
}
