import { Select } from '@mantine/core';
import { readSorting, sortingNames, type TokenListing } from '../api/tokenListing';
import { texts } from '../texts';
import classes from './ListingFields.module.css';

const { status, sort } = texts.keys;
const words = texts.common.tokenStatus;

const states = [
  { value: '', label: status.all },
  { value: '1', label: words[1] },
  { value: '2', label: words[2] },
  { value: '3', label: words[3] },
  { value: '4', label: words[4] },
];

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
        data={states}
        allowDeselect={false}
        value={listing.status === undefined ? '' : String(listing.status)}
        onChange={(value) => onChange({ status: value ? Number(value) : undefined })}
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
