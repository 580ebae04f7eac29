import { Select, type SelectProps } from '@mantine/core';
import { readSorting, sortingNames } from '../api/tokenListing';
import { texts } from '../texts';
import classes from './ListingFields.module.css';
import type { TokenSorting } from './tokenColumns';

const { status, sort, group: groupWords } = texts.keys;
const { keyState, otherKeyState } = texts.common;

const orders = sortingNames.map((value) => ({ value, label: sort.by[value] }));

/** One of the choices above a list. On a phone, two of them share a line. */
export function ChoiceSelect(props: SelectProps) {
  return <Select className={classes.choice} allowDeselect={false} {...props} />;
}

interface StateProps {
  state: string | undefined;
  onChange: (state: string | undefined) => void;
}

/** Which keys a list shows. */
export function StateSelect({ state, onChange }: StateProps) {
  return (
    <ChoiceSelect
      aria-label={status.label}
      data={statesWith(state)}
      value={state ?? ''}
      onChange={(value) => onChange(value || undefined)}
    />
  );
}

interface GroupProps {
  /** Empty for all. */
  group: string;
  groups: { value: string; label: string }[];
  onChange: (group: string) => void;
}

/** Which group a list shows. Absent where there is one only. The chosen one may be gone from the settings. */
export function GroupFilter({ group, groups, onChange }: GroupProps) {
  if (groups.length < 2 && group === '') return null;
  const isOther = group !== '' && !groups.some(({ value }) => value === group);
  const other = isOther ? [{ value: group, label: group }] : [];
  return (
    <ChoiceSelect
      aria-label={groupWords.label}
      data={[{ value: '', label: groupWords.all }, ...groups, ...other]}
      value={group}
      onChange={(value) => onChange(value ?? '')}
    />
  );
}

/** The order of the keys, for cards: tables have headers that sort. */
export function SortSelect({ sorting, onSort }: TokenSorting) {
  return (
    <ChoiceSelect
      aria-label={sort.label}
      data={orders}
      value={sorting}
      onChange={(value) => onSort(readSorting(value))}
    />
  );
}

/** The state that is shown may be one of a newer server. */
function statesWith(shown = '') {
  const known = Object.entries(keyState).map(([value, label]) => ({ value, label }));
  const isOther = shown !== '' && !Object.hasOwn(keyState, shown);
  const other = isOther ? [{ value: shown, label: otherKeyState }] : [];
  return [{ value: '', label: status.all }, ...known, ...other];
}
