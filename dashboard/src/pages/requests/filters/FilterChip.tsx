import { CloseButton, Popover, UnstyledButton } from '@mantine/core';
import { IconChevronDown } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { texts } from '../../../texts';
import classes from './FilterChip.module.css';

interface Props {
  /** What is filtered. */
  name: string;
  /** What is let through, in words. Empty if everything is. */
  value: string;
  /** Absent if there is always a value. */
  onClear?: () => void;
  /** The choices. A choice closes them. */
  children: (close: () => void) => ReactNode;
}

/** A filter on one line with its value, which opens its choices, and can be removed. */
export function FilterChip({ name, value, onClear, children }: Props) {
  const [opened, setOpened] = useState(false);
  const close = () => setOpened(false);
  return (
    <div className={classes.chip} data-set={value !== '' || undefined}>
      <Popover
        opened={opened}
        onChange={setOpened}
        position="bottom-start"
        width={300}
        shadow="md"
        // Always below, and as long as one scrolls to its end: above, its begin would leave the screen.
        middlewares={{ flip: false, shift: true }}
        hideDetached={false}
        trapFocus
        returnFocus
      >
        <Popover.Target>
          <UnstyledButton className={classes.button} onClick={() => setOpened(!opened)}>
            <span className={classes.text}>{value ? texts.common.labelled(name, value) : name}</span>
            <IconChevronDown size={16} stroke={1.6} />
          </UnstyledButton>
        </Popover.Target>
        <Popover.Dropdown>{children(close)}</Popover.Dropdown>
      </Popover>
      {value && onClear && (
        <CloseButton size={24} aria-label={texts.requests.filters.clear(name)} onClick={onClear} />
      )}
    </div>
  );
}
