import { roles } from '../api/serverLimits';
import { texts } from '../texts';

/** The name of a role. */
export function roleName(role: number): string {
  const { user, administrator, root } = texts.shell.roles;
  if (role >= roles.root) return root;
  return role >= roles.administrator ? administrator : user;
}
