import { SearchInput } from '../../../shared/SearchInput';
import { texts } from '../../../texts';
import { isKeyword } from './keyword';
import { useSettledText } from './useSettledText';

interface Props {
  label: string;
  keyword: string;
  onSearch: (keyword: string) => void;
}

/** Searches once typing rests. */
export function KeywordSearch({ label, keyword, onSearch }: Props) {
  const { text, type } = useSettledText(keyword, onSearch, isKeyword);
  return (
    <SearchInput
      label={label}
      value={text}
      onChange={type}
      hint={isKeyword(text) ? undefined : texts.adminLists.keywordTooShort}
    />
  );
}
