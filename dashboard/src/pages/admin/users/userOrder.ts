import { DEFAULT_USER_SORTING, type UserSorting, userSortings } from '../../../api/adminUsers';
import { type ListSorting, sortByOneOf } from '../../../shared/sortBy';

/** The order of the list of users. */
export type UserOrder = ListSorting<UserSorting>;

export const sortUsersBy = sortByOneOf(userSortings, DEFAULT_USER_SORTING);
