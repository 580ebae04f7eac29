import { texts } from '../../../texts';

/** The username, or "User 7" if it is not loaded. */
export function usernameOf(userId: number, names: ReadonlyMap<number, string> | undefined): string {
  return names?.get(userId) ?? texts.adminLists.userNumber(userId);
}
