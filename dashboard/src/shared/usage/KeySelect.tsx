import { type OptionsFilter, Select } from '@mantine/core';
import { texts } from '../../texts';

export interface KeyOption {
  id: number;
  name: string;
}

interface Props {
  /** Those to choose from. Absent while loading. */
  keys: KeyOption[] | undefined;
  /** The keys are those with the typed text, which may be a key and no part of the name. */
  areFound: boolean;
  onSearch: (text: string) => void;
  /** The ID of a key, or empty. */
  value: string;
  /**
   * The name of the chosen key, which may be among no list, or deleted. It must not depend on what is typed: a change
   * of it replaces that.
   */
  chosen: string;
  onChange: (id: string) => void;
}

/** Selects a key. There may be too many for one list, so what is typed is searched for elsewhere. */
export function KeySelect({ keys, areFound, onSearch, value, chosen, onChange }: Props) {
  const options = (keys ?? []).map(({ id, name }) => ({ value: String(id), label: name }));
  const isListed = options.some((option) => option.value === value);
  // The input shows the name of the chosen option, so it must be one, but it is not among those that were found.
  const other = value && !isListed ? [{ value, label: chosen }] : [];
  const found: OptionsFilter = () => options;
  return (
    <Select
      aria-label={texts.usage.key}
      placeholder={texts.usage.requestHistory.allKeys}
      searchable
      // It is in a popover, which a click elsewhere closes.
      comboboxProps={{ withinPortal: false }}
      clearable
      clearButtonProps={{ 'aria-label': texts.adminLists.clearSelection }}
      data={[...other, ...options]}
      filter={areFound ? found : undefined}
      nothingFoundMessage={keys && texts.usage.requestHistory.noKeys}
      value={value || null}
      onChange={(id) => onChange(id ?? '')}
      // The input has the name of the chosen key, for which nobody searches.
      onSearchChange={(text) => onSearch(text === chosen ? '' : text)}
    />
  );
}
