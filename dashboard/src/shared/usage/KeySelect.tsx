import { Select } from '@mantine/core';
import type { Token } from '../../api/tokens';
import { texts } from '../../texts';

interface Props {
  /** Those to choose from. */
  keys: Pick<Token, 'id' | 'name'>[];
  /** The ID of a key, or empty. */
  value: string;
  onChange: (id: string) => void;
}

/** Selects a key. The one that an address names may be among no list, or deleted. */
export function KeySelect({ keys, value, onChange }: Props) {
  const options = keys.map(({ id, name }) => ({ value: String(id), label: name }));
  const isListed = options.some((option) => option.value === value);
  const other = value && !isListed ? [{ value, label: texts.adminLists.keyNumber(Number(value)) }] : [];
  return (
    <Select
      aria-label={texts.usage.key}
      placeholder={texts.usage.requestHistory.allKeys}
      w={{ base: '100%', sm: 200 }}
      searchable
      clearable
      clearButtonProps={{ 'aria-label': texts.adminLists.clearSelection }}
      data={[...other, ...options]}
      value={value || null}
      onChange={(id) => onChange(id ?? '')}
    />
  );
}
