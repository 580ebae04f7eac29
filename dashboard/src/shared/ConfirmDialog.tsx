import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import type { UseMutationResult } from '@tanstack/react-query';
import type { ReactNode, RefObject } from 'react';
import { texts } from '../texts';
import { FailureMessage } from './FailureMessage';
import { FOCUS_RETURN_MS } from './focus';
import { notifySuccess } from './notify';
import { notifyUndo } from './notifyUndo';

interface Props<Data, Variables> {
  opened: boolean;
  title: string;
  /** What the action does. */
  children: ReactNode;
  /** A verb, such as "Delete". */
  actionLabel: string;
  mutation: Pick<UseMutationResult<Data, Error, Variables>, 'mutate' | 'isPending' | 'error' | 'reset'>;
  variables: Variables;
  successMessage: (data: Data) => string;
  /** The message about the success offers to take the action back. */
  onUndo?: (data: Data) => void;
  onSuccess?: (data: Data) => void;
  /** Gets the focus after success. By default the focus returns to the element that opened the dialog. */
  focusAfterSuccess?: RefObject<HTMLElement | null>;
  onClose: () => void;
}

/** Asks before a destructive action and runs it. Stays open and shows the error if the action fails. */
export function ConfirmDialog<Data, Variables>(props: Props<Data, Variables>) {
  const { opened, title, children, actionLabel, mutation, variables, onUndo } = props;

  function close() {
    mutation.reset();
    props.onClose();
  }

  function confirm() {
    mutation.mutate(variables, {
      onSuccess: (data) => {
        const message = props.successMessage(data);
        if (onUndo) notifyUndo(message, () => onUndo(data));
        else notifySuccess(message);
        close();
        props.onSuccess?.(data);
        setTimeout(() => props.focusAfterSuccess?.current?.focus(), FOCUS_RETURN_MS);
      },
    });
  }

  return (
    <Modal opened={opened} onClose={close} title={title}>
      <Stack>
        <Text component="div">{children}</Text>
        {mutation.error && (
          <Text c="var(--mantine-color-error)" role="alert">
            <FailureMessage error={mutation.error} />
          </Text>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={close} data-autofocus>
            {texts.common.cancel}
          </Button>
          <Button color="red" loading={mutation.isPending} onClick={confirm}>
            {actionLabel}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
