import { Select } from '@mantine/core';
import { readSorting, sortingNames } from '../api/tokenListing';
import { texts } from '../texts';
import classes from './ListingFields.module.css';
import type { TokenSorting } from './tokenColumns';

const { status, sort } = texts.keys;
const { keyState, otherKeyState } = texts.common;

const orders = sortingNames.map((value) => ({ value, label: sort.by[value] }));

interface StateProps {
  state: string | undefined;
  onChange: (state: string | undefined) => void;
}

/** Which keys a list shows. */
export function StateSelect({ state, onChange }: StateProps) {
  return (
    <Select
      aria-label={status.label}
      className={classes.choice}
      data={statesWith(state)}
      allowDeselect={false}
      value={state ?? ''}
      onChange={(value) => onChange(value || undefined)}
    />
  );
}

/** The order of the keys, for cards: tables have headers that sort. */
export function SortSelect({ sorting, onSort }: TokenSorting) {
  return (
    <Select
      aria-label={sort.label}
      className={classes.choice}
      data={orders}
      allowDeselect={false}
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
