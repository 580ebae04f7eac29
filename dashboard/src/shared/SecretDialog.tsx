import { Button, Code, Modal, type ModalProps, Stack, Text } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { texts } from '../texts';
import classes from './SecretDialog.module.css';
import { useBackCloses } from './useBackCloses';
import { useCopy } from './useCopy';

export interface SecretDialogProps extends Pick<ModalProps, 'size'> {
  title: string;
  /** The dialog is open while this is defined. */
  secret: string | undefined;
  /** Replaces the default hint that the secret is shown only once. */
  hint?: string;
  /** Shown below the secret, such as an example. */
  children?: ReactNode;
  /** The secret was copied. */
  onCopy?: () => void;
  onClose: () => void;
}

/** Shows a new secret. Only its button closes the dialog, so that a stray click, or Back, does not lose the secret. */
export function SecretDialog(props: SecretDialogProps) {
  const { title, secret, hint = texts.common.secret.once, children, size, onCopy, onClose } = props;
  const { copied, copy } = useCopy(onCopy);
  useBackCloses(secret !== undefined, stay);
  return (
    <Modal
      title={title}
      size={size}
      opened={secret !== undefined}
      onClose={onClose}
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
    >
      <Stack>
        <Text>{hint}</Text>
        <Code block className={classes.secret}>
          {secret}
        </Code>
        <Button
          data-autofocus
          leftSection={copied ? <IconCheck size={18} /> : <IconCopy size={18} />}
          onClick={() => secret && copy(secret)}
        >
          {copied ? texts.common.copied : texts.common.copy}
        </Button>
        {children}
        <Button variant="default" onClick={onClose}>
          {texts.common.secret.done}
        </Button>
      </Stack>
    </Modal>
  );
}

function stay() {}
