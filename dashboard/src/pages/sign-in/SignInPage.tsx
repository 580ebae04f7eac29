import { Button, PasswordInput, Stack } from '@mantine/core';
import { type FormEvent, useRef, useState } from 'react';
import { Redirect, useSearch } from 'wouter';
import { useSession, useSignIn } from '../../api/session';
import { useStatus } from '../../api/status';
import { formatInteger } from '../../format/locale';
import { FailureMessage } from '../../shared/FailureMessage';
import { useSecondsLeft } from '../../shared/useSecondsLeft';
import { homeOf, nextPath } from '../../shell/nextPath';
import { texts } from '../../texts';
import { AuthLayout } from './AuthLayout';
import { UsernameInput } from './UsernameInput';

export default function SignInPage() {
  const search = useSearch();
  const session = useSession();
  const status = useStatus();
  const signIn = useSignIn();
  const [username, setUsername] = useState('');
  const [password, setPassword] = useState('');
  const passwordInput = useRef<HTMLInputElement>(null);
  const secondsLeft = useSecondsLeft(signIn.error);
  const isThrottled = Boolean(secondsLeft);
  const { title, submit, submitIn, tooMany, noAccount, toRegister, ask, ...labels } = texts.signIn;

  if (session.data) return <Redirect to={nextPath(search, homeOf(session.data))} replace />;

  function send(event: FormEvent) {
    event.preventDefault();
    // Usually the password is wrong.
    signIn.mutate({ username, password }, { onError: () => passwordInput.current?.select() });
  }

  // The button shows the countdown. In the alert, a screen reader would read every second aloud.
  const throttled = isThrottled && tooMany;
  const refused = signIn.error && <FailureMessage error={signIn.error} />;
  const failure = secondsLeft === undefined ? refused : throttled;
  const register = {
    question: noAccount,
    label: toRegister,
    href: search ? `/register?${search}` : '/register',
  };
  const canRegister = status.data?.registration;
  return (
    <AuthLayout
      title={title}
      failure={failure}
      other={canRegister ? register : undefined}
      question={canRegister ? ask.password : ask.accountOrPassword}
    >
      <form onSubmit={send}>
        <Stack>
          <UsernameInput value={username} onChange={setUsername} />
          <PasswordInput
            ref={passwordInput}
            label={labels.password}
            name="password"
            autoComplete="current-password"
            required
            withAsterisk={false}
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
          />
          <Button type="submit" fullWidth mt="xs" loading={signIn.isPending} disabled={isThrottled}>
            {secondsLeft ? submitIn(formatInteger(secondsLeft)) : submit}
          </Button>
        </Stack>
      </form>
    </AuthLayout>
  );
}
