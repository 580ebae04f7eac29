import { mayBeSecret } from '../../../shared/mayBeSecret';
import { SearchInput } from '../../../shared/SearchInput';
import { useDebouncedText } from '../../../shared/useDebouncedText';
import { texts } from '../../../texts';
import { isSearchable } from '../shared/useAllKeys';

interface Props {
  text: string;
  onSearch: (text: string) => void;
}

/** Searches for a part of a name, a key, or an end of a key. */
export function KeySearch({ text, onSearch }: Props) {
  const search = useDebouncedText(text, (typed) => onSearch(typed.trim()), isSearchable);
  const hint = mayBeSecret(search.text) ? texts.adminTokens.keyHint : texts.adminLists.keywordTooShort;
  return (
    <SearchInput
      label={texts.keys.search.label}
      value={search.text}
      onChange={search.type}
      hint={isSearchable(search.text) ? undefined : hint}
    />
  );
}
