import { Anchor, Button, Modal, PasswordInput, Stack, Text } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useLocation } from 'wouter';
import { useLeave, useSignInAgain } from '../api/session';
import { FailureMessage } from '../shared/FailureMessage';
import { texts } from '../texts';

const words = texts.signIn.again;

/** Escape would close the dialog below this one. Mantine reads the attribute from the focused element. */
const keepsDialogsOpen = { 'data-mantine-stop-propagation': true };

/** Above all dialogs and drawers of the pages. */
const Z_INDEX = 350;

interface Props {
  /** The user whose session has ended. */
  username: string;
  opened: boolean;
}

/** Signs in again over the page, which keeps its input. */
export function SignInAgainDialog({ username, opened }: Props) {
  return (
    <Modal
      opened={opened}
      onClose={() => {}}
      title={words.title}
      zIndex={Z_INDEX}
      // The page may show data that other people must not read.
      overlayProps={{ backgroundOpacity: 0.5, blur: 8 }}
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
    >
      <SignInAgainForm username={username} />
    </Modal>
  );
}

function SignInAgainForm({ username }: { username: string }) {
  const signIn = useSignInAgain();
  const leave = useLeave();
  const [, navigate] = useLocation();
  const [password, setPassword] = useState('');

  function send(event: FormEvent) {
    event.preventDefault();
    signIn.mutate({ username, password });
  }

  function useAnotherAccount() {
    leave();
    navigate('/sign-in');
  }

  return (
    <form onSubmit={send}>
      <Stack>
        <Text>{words.hint(username)}</Text>
        {/* Lets password managers find the password. */}
        <input type="text" name="username" autoComplete="username" value={username} readOnly hidden />
        <PasswordInput
          {...keepsDialogsOpen}
          label={texts.signIn.password}
          name="password"
          autoComplete="current-password"
          data-autofocus
          required
          withAsterisk={false}
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
        {signIn.error && (
          <Text c="var(--mantine-color-error)" role="alert">
            <FailureMessage error={signIn.error} />
          </Text>
        )}
        <Button type="submit" fullWidth loading={signIn.isPending} {...keepsDialogsOpen}>
          {texts.signIn.submit}
        </Button>
        <Anchor component="button" type="button" size="sm" onClick={useAnotherAccount} {...keepsDialogsOpen}>
          {words.otherAccount}
        </Anchor>
      </Stack>
    </form>
  );
}
