import { Button, Group, Stack, Text } from '@mantine/core';
import type { FormEvent, ReactNode } from 'react';
import { FailureMessage } from '../../../shared/FailureMessage';
import { texts } from '../../../texts';

interface Props {
  children: ReactNode;
  submitLabel: string;
  dangerous?: boolean;
  pending: boolean;
  failure: Error | null;
  onSubmit: () => void;
  onCancel: () => void;
}

/** A form in a dialog: fields, error message, Cancel and Submit. */
export function DialogForm(props: Props) {
  const { children, submitLabel, dangerous, pending, failure, onSubmit, onCancel } = props;

  function send(event: FormEvent) {
    event.preventDefault();
    onSubmit();
  }

  return (
    <form onSubmit={send} noValidate>
      <Stack>
        {children}
        {failure && (
          <Text c="var(--mantine-color-error)" role="alert">
            <FailureMessage error={failure} />
          </Text>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onCancel}>
            {texts.common.cancel}
          </Button>
          <Button type="submit" color={dangerous ? 'red' : undefined} loading={pending}>
            {submitLabel}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
