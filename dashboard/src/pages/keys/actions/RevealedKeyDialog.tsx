import { Button, Code, Modal, Stack, Text } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useCopy } from '../../../shared/useCopy';
import { texts } from '../../../texts';
import classes from './RevealedKeyDialog.module.css';

interface Props {
  /** The dialog is open while this is defined. */
  revealed: { name: string; key: string } | undefined;
  onClose: () => void;
}

export function RevealedKeyDialog({ revealed, onClose }: Props) {
  const { copied, copy } = useCopy();
  const { title, hint } = texts.keys.revealed;
  return (
    <Modal opened={revealed !== undefined} onClose={onClose} title={revealed && title(revealed.name)}>
      <Stack>
        <Code block className={classes.key}>
          {revealed?.key}
        </Code>
        <Text size="sm" c="dimmed">
          {hint}
        </Text>
        <Button
          data-autofocus
          leftSection={copied ? <IconCheck size={18} /> : <IconCopy size={18} />}
          onClick={() => revealed && copy(revealed.key)}
        >
          {copied ? texts.common.copied : texts.keys.menu.copyKey}
        </Button>
      </Stack>
    </Modal>
  );
}
