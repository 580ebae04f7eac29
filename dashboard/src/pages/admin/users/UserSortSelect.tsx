import { readUserSorting, userSortingNames } from '../../../api/adminUsers';
import { ChoiceSelect } from '../../../shared/ListingFields';
import { texts } from '../../../texts';
import type { UserOrder } from './userOrder';

const { label, by } = texts.adminUsers.sort;
const orders = userSortingNames.map((value) => ({ value, label: by[value] }));

/** The order of the users, for cards: tables have headers that sort. */
export function UserSortSelect({ sorting, onSort }: UserOrder) {
  return (
    <ChoiceSelect
      aria-label={label}
      data={orders}
      value={sorting}
      onChange={(value) => onSort(readUserSorting(value))}
    />
  );
}
