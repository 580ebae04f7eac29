import { Button, PasswordInput, Stack, Text } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useChangePassword } from '../../api/account';
import { hasCode } from '../../api/error';
import { useUser } from '../../api/session';
import { FailureMessage } from '../../shared/FailureMessage';
import { notifySuccess } from '../../shared/notify';
import { texts } from '../../texts';
import { Section } from './Section';

const words = texts.profile.password;
const blank = { old: '', new: '', repeat: '' };

export function PasswordSection() {
  const { username } = useUser();
  const change = useChangePassword();
  const [typed, setTyped] = useState(blank);
  const [differ, setDiffer] = useState(false);
  const failure = change.error && <FailureMessage error={change.error} />;
  const isOld = hasCode(change.error, 'wrong_password');
  const isNew = hasCode(change.error, 'invalid_password');

  function type(part: Partial<typeof blank>) {
    setTyped({ ...typed, ...part });
    setDiffer(false);
    change.reset();
  }

  function send(event: FormEvent) {
    event.preventDefault();
    if (typed.new !== typed.repeat) {
      setDiffer(true);
      return;
    }
    change.mutate(
      { username, oldPassword: typed.old, newPassword: typed.new },
      {
        onSuccess: (user) => {
          setTyped(blank);
          notifySuccess(user ? words.changed : words.changedSignInAgain);
        },
      },
    );
  }

  return (
    <Section title={words.title}>
      <form onSubmit={send}>
        <Stack>
          {/* Lets password managers assign the password to the account. */}
          <input type="text" name="username" autoComplete="username" value={username} readOnly hidden />
          <PasswordInput
            label={words.old}
            name="old_password"
            autoComplete="current-password"
            required
            withAsterisk={false}
            value={typed.old}
            error={isOld && words.wrong}
            onChange={(event) => type({ old: event.currentTarget.value })}
          />
          <PasswordInput
            label={words.new}
            description={words.newHint}
            name="new_password"
            autoComplete="new-password"
            required
            withAsterisk={false}
            value={typed.new}
            error={isNew && failure}
            onChange={(event) => type({ new: event.currentTarget.value })}
          />
          <PasswordInput
            label={words.repeat}
            name="repeat_password"
            autoComplete="new-password"
            required
            withAsterisk={false}
            value={typed.repeat}
            error={differ && words.different}
            onChange={(event) => type({ repeat: event.currentTarget.value })}
          />
          {failure && !isOld && !isNew && (
            <Text c="var(--mantine-color-error)" role="alert">
              {failure}
            </Text>
          )}
          <Text size="sm" c="dimmed">
            {words.consequences}
          </Text>
          <div>
            <Button type="submit" loading={change.isPending}>
              {words.submit}
            </Button>
          </div>
        </Stack>
      </form>
    </Section>
  );
}
