import { useSettings } from '../../../api/adminSettings';
import { GroupFilter } from '../../../shared/ListingFields';

interface Props {
  /** Empty for all. */
  group: string;
  onChange: (group: string) => void;
  /** Choices before the groups of the settings. */
  others?: { value: string; label: string }[];
}

/** Which group a list shows, of those of the settings. Absent where there is one only. */
export function AnyGroupFilter({ others = [], ...props }: Props) {
  const groups = useSettings().data?.groups ?? [];
  const choices = groups.map(({ name }) => ({ value: name, label: name }));
  const isOne = choices.length < 2 && props.group === '';
  return <GroupFilter groups={isOne ? [] : [...others, ...choices]} {...props} />;
}
