import { Button, Group, Stack, Text } from '@mantine/core';
import { type ReactNode, useContext, useLayoutEffect, useRef } from 'react';
import { texts } from '../../texts';
import { FailureMessage } from '../FailureMessage';
import { DiscardContext } from './discard';
import { markFirst } from './markFirst';
import type { useSendForm } from './useSendForm';

interface Props {
  /** Of `useSendForm`. */
  sending: Pick<ReturnType<typeof useSendForm>, 'onSubmit' | 'isPending' | 'failure'>;
  children: ReactNode;
  submitLabel: string;
  dangerous?: boolean;
  disabled?: boolean;
  /** The path of the input that gets the focus. Without it, the dialog of the form chooses. */
  startsAt?: string;
  /** The browser refuses to submit while a required field is empty. */
  withBrowserChecks?: boolean;
  /** In a dialog, which gets the button Cancel. A `FormModal` asks first. */
  onCancel?: () => void;
}

/** A form: fields, error message and buttons. */
export function SendForm({ sending, children, submitLabel, dangerous, disabled, startsAt, ...props }: Props) {
  const ref = useRef<HTMLFormElement>(null);
  useLayoutEffect(() => markFirst(ref.current, startsAt), [startsAt]);
  const { onSubmit, isPending, failure } = sending;
  const cancel = useContext(DiscardContext)?.requestClose ?? props.onCancel;
  const submit = (
    <Button type="submit" color={dangerous ? 'red' : undefined} disabled={disabled} loading={isPending}>
      {submitLabel}
    </Button>
  );
  return (
    <form ref={ref} onSubmit={onSubmit} noValidate={!props.withBrowserChecks}>
      <Stack>
        {children}
        {failure && (
          <Text c="var(--mantine-color-error)" role="alert">
            <FailureMessage error={failure} />
          </Text>
        )}
        {props.onCancel ? (
          <Group justify="flex-end">
            <Button variant="default" onClick={cancel}>
              {texts.common.cancel}
            </Button>
            {submit}
          </Group>
        ) : (
          <div>{submit}</div>
        )}
      </Stack>
    </form>
  );
}
