import { useState } from 'react';
import { TOKENS_PER_REQUEST, useToken } from '../../api/tokens';
import { KeySelect } from '../../shared/usage/KeySelect';
import { texts } from '../../texts';
import { useKeyList } from '../keys/useKeyList';

interface Props {
  /** The ID of a key, or empty. */
  value: string;
  onChange: (id: string) => void;
}

/** Selects a key of this user. With more than one request loads, the server searches. */
export function OwnKeySelect({ value, onChange }: Props) {
  const [q, setQ] = useState('');
  const list = useKeyList({ q, state: undefined, sorting: 'name', page: 0 }, TOKENS_PER_REQUEST);
  const listed = list.rows?.find(({ id }) => String(id) === value);
  const one = useToken(value && list.rows && !listed ? Number(value) : undefined);
  const unknown = one.isError ? texts.adminLists.keyNumber(Number(value)) : undefined;
  return (
    <KeySelect
      keys={list.rows}
      areFound={list.plan.kind === 'local' || list.plan.kind === 'server'}
      onSearch={setQ}
      value={value}
      chosen={listed?.name ?? one.data?.name ?? unknown}
      onChange={onChange}
    />
  );
}
