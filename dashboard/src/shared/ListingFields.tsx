import { Select } from '@mantine/core';
import { readSorting, sortingNames, type TokenListing } from '../api/tokenListing';
import { texts } from '../texts';
import classes from './ListingFields.module.css';

const { status, sort } = texts.keys;
const { keyState, otherKeyState } = texts.common;

const orders = sortingNames.map((value) => ({ value, label: sort.by[value] }));

interface Props {
  listing: TokenListing;
  onChange: (changes: Partial<TokenListing>) => void;
}

/** Which keys a list shows, and in which order. */
export function ListingFields({ listing, onChange }: Props) {
  return (
    <>
      <Select
        aria-label={status.label}
        className={classes.choice}
        data={statesWith(listing.state)}
        allowDeselect={false}
        value={listing.state ?? ''}
        onChange={(value) => onChange({ state: value || undefined })}
      />
      <Select
        aria-label={sort.label}
        className={classes.choice}
        data={orders}
        allowDeselect={false}
        value={listing.sorting}
        onChange={(value) => onChange({ sorting: readSorting(value) })}
      />
    </>
  );
}

/** The state that is shown may be one of a newer server. */
function statesWith(shown = '') {
  const known = Object.entries(keyState).map(([value, label]) => ({ value, label }));
  const isOther = shown !== '' && !Object.hasOwn(keyState, shown);
  const other = isOther ? [{ value: shown, label: otherKeyState }] : [];
  return [{ value: '', label: status.all }, ...known, ...other];
}
