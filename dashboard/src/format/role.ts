import { roles } from '../api/serverLimits';
import { texts } from '../texts';

/** What a role is called in the texts. */
export function roleKey(role: number): keyof typeof texts.shell.roles {
  if (role >= roles.root) return 'root';
  return role >= roles.administrator ? 'administrator' : 'user';
}

/** The name of a role. */
export function roleName(role: number): string {
  return texts.shell.roles[roleKey(role)];
}
