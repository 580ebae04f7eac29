import { useGroups } from '../../api/tokenOptions';
import { GroupFilter } from '../../shared/ListingFields';
import { AUTO, groupName, OWN } from './groupName';

interface Props {
  group: string | undefined;
  onChange: (group: string | undefined) => void;
}

/** Which group the list shows. Absent where keys can have one group only. */
export function GroupSelect({ group = '', onChange }: Props) {
  const groups = Object.keys(useGroups().data ?? {});
  const names = groups.length < 2 && group === '' ? [] : [...new Set([OWN, AUTO, ...groups])];
  const choices = names.map((value) => ({ value, label: groupName(value === OWN ? '' : value) }));
  return <GroupFilter group={group} groups={choices} onChange={(chosen) => onChange(chosen || undefined)} />;
}
