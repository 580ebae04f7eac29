import { CloseButton, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { texts } from '../texts';

interface Props {
  /** The accessible name and the placeholder. */
  label: string;
  value: string;
  onChange: (value: string) => void;
  /** Shown below the input. */
  hint?: ReactNode;
  /** Takes the whole width also on wide screens. */
  fullWidth?: boolean;
}

export function SearchInput({ label, value, onChange, hint, fullWidth = false }: Props) {
  return (
    <TextInput
      type="search"
      aria-label={label}
      placeholder={label}
      description={hint}
      inputWrapperOrder={['input', 'description']}
      w={fullWidth ? '100%' : { base: '100%', sm: 300 }}
      leftSection={<IconSearch size={18} stroke={1.6} />}
      rightSection={
        value && <CloseButton size="sm" aria-label={texts.common.clearSearch} onClick={() => onChange('')} />
      }
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      onKeyDown={(event) => event.key === 'Escape' && onChange('')}
    />
  );
}
