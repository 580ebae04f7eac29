import { SearchInput } from '../../../shared/SearchInput';
import { useDebouncedText } from '../../../shared/useDebouncedText';
import { texts } from '../../../texts';
import { isKeyword } from './keyword';

interface Props {
  label: string;
  keyword: string;
  onSearch: (keyword: string) => void;
}

/** Searches after a pause in typing. */
export function KeywordSearch({ label, keyword, onSearch }: Props) {
  const { text, type } = useDebouncedText(keyword, onSearch, isKeyword);
  return (
    <SearchInput
      label={label}
      value={text}
      onChange={type}
      hint={isKeyword(text) ? undefined : texts.adminLists.keywordTooShort}
    />
  );
}
