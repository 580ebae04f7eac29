import { ActionIcon, Tooltip } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { texts } from '../texts';
import { useCopy } from './useCopy';

interface Props {
  value: string;
  /** The accessible name. */
  label?: string;
  onCopy?: () => void;
}

/** An icon button that copies `value`. */
export function CopyButton({ value, label = texts.common.copy, onCopy }: Props) {
  const { copied, copy } = useCopy(onCopy);
  return (
    <Tooltip label={copied ? texts.common.copied : label}>
      <ActionIcon aria-label={copied ? texts.common.copied : label} onClick={() => copy(value)}>
        {copied ? <IconCheck size={18} color="var(--km-ok)" /> : <IconCopy size={18} stroke={1.6} />}
      </ActionIcon>
    </Tooltip>
  );
}
