import { Select } from '@mantine/core';
import { mayBeSecret } from '../../../shared/mayBeSecret';
import { SearchInput } from '../../../shared/SearchInput';
import { texts } from '../../../texts';
import { isKeyword } from '../shared/keyword';
import { useDebouncedText } from '../shared/useDebouncedText';
import { isKeyPart } from './keyPart';

export type SearchBy = 'name' | 'key';

interface Props {
  by: SearchBy;
  text: string;
  onSearch: (by: SearchBy, text: string) => void;
}

const words = texts.adminTokens.searchBy;
const choices = [
  { value: 'name' as const, label: words.name },
  { value: 'key' as const, label: words.key },
];

/** Searches for a name or a key. A pasted key is recognised. */
export function KeySearch({ by, text, onSearch }: Props) {
  const byOf = (typed: string): SearchBy => (mayBeSecret(typed) ? 'key' : by);
  const isAcceptable = (typed: string) => (byOf(typed) === 'key' ? isKeyPart(typed) : isKeyword(typed));
  const search = useDebouncedText(text, (typed) => onSearch(byOf(typed), typed.trim()), isAcceptable);
  const shownBy = byOf(search.text);
  const hint = shownBy === 'key' ? words.keyHint : texts.adminLists.keywordTooShort;
  return (
    <>
      <Select<SearchBy>
        aria-label={words.label}
        w={{ base: '100%', sm: 110 }}
        data={choices}
        allowDeselect={false}
        value={shownBy}
        onChange={(selected) => selected && onSearch(selected, '')}
      />
      <SearchInput
        label={shownBy === 'key' ? words.searchKey : texts.adminTokens.search}
        value={search.text}
        onChange={search.type}
        hint={isAcceptable(search.text) ? undefined : hint}
      />
    </>
  );
}
