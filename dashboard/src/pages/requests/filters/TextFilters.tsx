import { Select, TextInput } from '@mantine/core';
import { reasonText } from '../../../shared/usage/refusalText';
import { useDebouncedText } from '../../../shared/useDebouncedText';
import { texts } from '../../../texts';
import { FilterChip } from './FilterChip';

const words = texts.usage.requestHistory;
const reasons = Object.keys(texts.usage.refused.reasons);

interface Props {
  /** Empty for all. */
  value: string;
  onChange: (value: string) => void;
}

export function ModelFilter({ value, onChange }: Props) {
  const model = useDebouncedText(
    value,
    (text) => onChange(text.trim()),
    () => true,
  );
  return (
    <FilterChip name={words.model} value={value} onClear={() => onChange('')}>
      {(close) => (
        <TextInput
          aria-label={words.model}
          placeholder={words.model}
          value={model.text}
          onChange={(event) => model.type(event.currentTarget.value)}
          onKeyDown={(event) => event.key === 'Enter' && close()}
        />
      )}
    </FilterChip>
  );
}

/** Why requests were refused. The address may have a reason that only a newer server knows. */
export function ReasonFilter({ value, onChange }: Props) {
  const known = value && !reasons.includes(value) ? [...reasons, value] : reasons;
  return (
    <FilterChip
      name={texts.requests.filters.reason}
      value={value && reasonText(value)}
      onClear={() => onChange('')}
    >
      {(close) => (
        <Select
          aria-label={texts.usage.refused.reason}
          placeholder={words.anyReason}
          comboboxProps={{ withinPortal: false }}
          data={known.map((reason) => ({ value: reason, label: reasonText(reason) }))}
          value={value || null}
          onChange={(reason) => {
            onChange(reason ?? '');
            close();
          }}
        />
      )}
    </FilterChip>
  );
}
