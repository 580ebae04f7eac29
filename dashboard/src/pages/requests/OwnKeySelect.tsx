import { useState } from 'react';
import { TOKENS_PER_REQUEST } from '../../api/tokens';
import { KeySelect } from '../../shared/usage/KeySelect';
import { useKeyList } from '../keys/useKeyList';

interface Props {
  /** The ID of a key, or empty. */
  value: string;
  /** The name of that key. */
  chosen: string;
  onChange: (id: string) => void;
}

/** Selects a key of this user. With more than one request loads, the server searches. */
export function OwnKeySelect({ value, chosen, onChange }: Props) {
  const [q, setQ] = useState('');
  const list = useKeyList({ q, state: undefined, sorting: 'name', page: 0 }, TOKENS_PER_REQUEST);
  return (
    <KeySelect
      keys={list.rows}
      areFound={list.plan.kind === 'local' || list.plan.kind === 'server'}
      onSearch={setQ}
      value={value}
      chosen={chosen}
      onChange={onChange}
    />
  );
}
