import { Select, type SelectProps } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import { useUsernames, useUsers } from '../../../api/adminUsers';
import { texts } from '../../../texts';
import { isKeyword } from './keyword';
import { nameOf } from './nameOf';

interface Props extends Pick<SelectProps, 'label' | 'placeholder' | 'w' | 'flex' | 'aria-label'> {
  /** A user's id, or empty. */
  value: string;
  onChange: (id: string) => void;
}

const TYPING_RESTS_MS = 400;

/** Chooses one of the accounts; the server searches, so it does not matter how many there are. */
export function UserSelect({ value, onChange, ...props }: Props) {
  const names = useUsernames();
  const [typed, setTyped] = useState('');
  const chosen = value && nameOf(Number(value), names.data);
  const [keyword] = useDebouncedValue(typed, TYPING_RESTS_MS);
  const users = useUsers(keyword !== chosen && isKeyword(keyword) ? keyword : '', 0);
  const found = users.data?.items ?? [];
  const options = found.map((user) => ({ value: String(user.id), label: user.username }));
  if (chosen && !options.some((option) => option.value === value)) {
    options.unshift({ value, label: chosen });
  }
  return (
    <Select
      {...props}
      searchable
      clearable
      clearButtonProps={{ 'aria-label': texts.adminLists.clearChoice }}
      data={options}
      // What the server found fits, also where only the display name or the address does.
      filter={({ options: all }) => all}
      nothingFoundMessage={texts.adminLists.nobodyFound}
      value={value || null}
      onChange={(id) => onChange(id ?? '')}
      onSearchChange={setTyped}
    />
  );
}
