import { texts } from '../../../texts';

/** The name of an account; its number where the name is not known, or not known yet. */
export function usernameOf(userId: number, names: ReadonlyMap<number, string> | undefined): string {
  return names?.get(userId) ?? texts.adminLists.userNumber(userId);
}
