import { Select } from '@mantine/core';
import { useGroups } from '../../api/tokenOptions';
import { texts } from '../../texts';
import { AUTO, groupName } from './groupName';
import classes from './KeysToolbar.module.css';

interface Props {
  group: string | undefined;
  onChange: (group: string | undefined) => void;
}

const words = texts.keys.group;
/** Of the API, for keys without a group. */
const OWN = 'own';

/** Which group the list shows. Absent where keys can have one group only. */
export function GroupSelect({ group, onChange }: Props) {
  const groups = Object.keys(useGroups().data ?? {});
  if (groups.length < 2 && group === undefined) return null;
  const names = new Set([OWN, AUTO, ...groups, ...(group === undefined ? [] : [group])]);
  const options = [...names].map((value) => ({ value, label: groupName(value === OWN ? '' : value) }));
  return (
    <Select
      aria-label={words.label}
      className={classes.choice}
      data={[{ value: '', label: words.all }, ...options]}
      allowDeselect={false}
      value={group ?? ''}
      onChange={(value) => onChange(value || undefined)}
    />
  );
}
