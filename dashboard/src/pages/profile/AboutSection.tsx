import { Button, Stack, Text, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useEditAccount } from '../../api/account';
import { hasCode } from '../../api/error';
import { useUser } from '../../api/session';
import { FailureMessage } from '../../shared/FailureMessage';
import { notifySuccess } from '../../shared/notify';
import { texts } from '../../texts';
import { Section } from './Section';

const words = texts.profile.about;

export function AboutSection() {
  const user = useUser();
  const edit = useEditAccount();
  const [displayName, setDisplayName] = useState(user.display_name);
  const [email, setEmail] = useState(user.email);
  const changed = displayName.trim() !== user.display_name || email.trim() !== user.email;
  const failure = edit.error && <FailureMessage error={edit.error} />;
  const isName = hasCode(edit.error, 'invalid_text');
  const isEmail = hasCode(edit.error, 'invalid_email');

  function send(event: FormEvent) {
    event.preventDefault();
    edit.mutate(
      { display_name: displayName, email },
      {
        onSuccess: (saved) => {
          setDisplayName(saved.display_name);
          setEmail(saved.email);
          notifySuccess(words.saved);
        },
      },
    );
  }

  return (
    <Section title={words.title}>
      {/* `noValidate`: the server checks the email address. */}
      <form onSubmit={send} noValidate>
        <Stack>
          <TextInput
            label={words.displayName}
            description={words.displayNameHint}
            name="display_name"
            autoComplete="name"
            value={displayName}
            error={isName && failure}
            onChange={(event) => {
              edit.reset();
              setDisplayName(event.currentTarget.value);
            }}
          />
          <TextInput
            label={words.email}
            description={words.emailHint}
            name="email"
            type="email"
            autoComplete="email"
            value={email}
            error={isEmail && failure}
            onChange={(event) => {
              edit.reset();
              setEmail(event.currentTarget.value);
            }}
          />
          {failure && !isName && !isEmail && (
            <Text c="var(--mantine-color-error)" role="alert">
              {failure}
            </Text>
          )}
          <div>
            <Button type="submit" disabled={!changed} loading={edit.isPending}>
              {texts.common.save}
            </Button>
          </div>
        </Stack>
      </form>
    </Section>
  );
}
