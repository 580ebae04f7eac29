import { useToken } from '../../api/tokens';
import { texts } from '../../texts';
import { FilterChip } from './filters/FilterChip';
import { OwnKeySelect } from './OwnKeySelect';

interface Props {
  /** The ID of a key, or empty. */
  value: string;
  onChange: (id: string) => void;
}

/** A filter by a key of this user. It may have been deleted. */
export function OwnKeyFilter({ value, onChange }: Props) {
  const token = useToken(value ? Number(value) : undefined);
  const name = token.isError ? texts.adminLists.keyNumber(Number(value)) : (token.data?.name ?? LOADING);
  return (
    <FilterChip name={texts.usage.key} value={value && name} onClear={() => onChange('')}>
      {(close) => (
        <OwnKeySelect
          value={value}
          chosen={name}
          onChange={(id) => {
            onChange(id);
            close();
          }}
        />
      )}
    </FilterChip>
  );
}

const LOADING = '…';
