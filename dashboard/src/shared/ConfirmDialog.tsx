import { Button, Group, Modal, Stack, Text } from '@mantine/core';
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
  pending: boolean;
  failure: Error | null;
  onConfirm: () => void;
  onClose: () => void;
}

export function ConfirmDialog(props: Props) {
  const { opened, title, children, confirmLabel, dangerous, pending, failure, onConfirm, onClose } = props;
  return (
    <Modal opened={opened} onClose={onClose} title={title}>
      <Stack>
        <Text component="div">{children}</Text>
        {failure && (
          <Text c="var(--mantine-color-error)" role="alert">
            <FailureMessage error={failure} />
          </Text>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} data-autofocus>
            {texts.common.cancel}
          </Button>
          <Button color={dangerous ? 'red' : undefined} loading={pending} onClick={onConfirm}>
            {confirmLabel}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
