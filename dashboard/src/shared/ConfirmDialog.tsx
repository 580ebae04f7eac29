import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import type { UseMutationResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { texts } from '../texts';
import { FailureMessage } from './FailureMessage';

interface Props {
  opened: boolean;
  title: string;
  /** What will happen. */
  children: ReactNode;
  /** The verb of the question: "Delete". */
  confirmLabel: string;
  dangerous?: boolean;
  /** What is asked about, forgotten when the dialog closes. */
  mutation: Pick<UseMutationResult, 'isPending' | 'error' | 'reset'>;
  onConfirm: () => void;
  onClose: () => void;
}

export function ConfirmDialog(props: Props) {
  const { opened, title, children, confirmLabel, dangerous, mutation, onConfirm, onClose } = props;

  function close() {
    mutation.reset();
    onClose();
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
          <Button color={dangerous ? 'red' : undefined} loading={mutation.isPending} onClick={onConfirm}>
            {confirmLabel}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
