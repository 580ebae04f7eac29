import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import type { OwnedToken } from '../../../api/adminTokens';
import { KeySelect } from '../../../shared/usage/KeySelect';
import { texts } from '../../../texts';
import { isSearchable, useAllKeys } from '../shared/useAllKeys';

interface Props {
  /** The ID of the owner, or empty for the keys of all users. */
  userId: string;
  /** The ID of a key, or empty. */
  value: string;
  /** The name of that key. */
  chosen: string;
  onChange: (id: string) => void;
}

const DEBOUNCE_MS = 400;

/** Selects a key of any user. The server searches, so the number of keys does not matter. */
export function AnyKeySelect({ userId, value, chosen, onChange }: Props) {
  const [typed, setTyped] = useState('');
  const [text] = useDebouncedValue(typed.trim(), DEBOUNCE_MS);
  const listing = { state: undefined, sorting: userId ? 'name' : 'newest' } as const;
  const { query: found } = useAllKeys(isSearchable(text) ? text : '', { userId, listing, page: 0 });
  const nameOf = ({ name, username }: OwnedToken) => (userId ? name : texts.usage.recent.of(name, username));
  const keys = found.data?.items;
  return (
    <KeySelect
      keys={keys?.map((key) => ({ id: key.id, name: nameOf(key) }))}
      areFound={text !== '' && isSearchable(text)}
      onSearch={setTyped}
      value={value}
      chosen={chosen}
      onChange={onChange}
    />
  );
}
