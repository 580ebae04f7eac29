import { Select, type SelectProps } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import { useAccount, useUsers } from '../../../api/adminUsers';
import { texts } from '../../../texts';
import { isKeyword } from './keyword';

interface Props
  extends Pick<SelectProps, 'label' | 'placeholder' | 'w' | 'flex' | 'aria-label' | 'comboboxProps'> {
  /** The ID of a user, or empty. */
  value: string;
  onChange: (id: string) => void;
}

const DEBOUNCE_MS = 400;

/** Selects an account. The server searches, so the number of accounts does not matter. */
export function UserSelect({ value, onChange, ...props }: Props) {
  const account = useAccount(/^\d{1,15}$/.test(value) ? Number(value) : undefined);
  const [typed, setTyped] = useState('');
  const selected = value && (account.data?.username ?? texts.adminLists.userNumber(Number(value)));
  const [keyword] = useDebouncedValue(typed, DEBOUNCE_MS);
  const users = useUsers({ keyword: keyword !== selected && isKeyword(keyword) ? keyword : '' }, 0);
  const found = users.data?.items ?? [];
  const options = found.map((user) => ({ value: String(user.id), label: user.username }));
  if (selected && !options.some((option) => option.value === value)) {
    options.unshift({ value, label: selected });
  }
  return (
    <Select
      {...props}
      searchable
      clearable
      clearButtonProps={{ 'aria-label': texts.adminLists.clearSelection }}
      data={options}
      // The server also matches display names and email addresses, so its results are not filtered again.
      filter={({ options: all }) => all}
      nothingFoundMessage={texts.adminLists.noUsers}
      value={value || null}
      onChange={(id) => onChange(id ?? '')}
      onSearchChange={setTyped}
    />
  );
}
