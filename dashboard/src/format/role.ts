import { texts } from '../texts';

const ADMINISTRATOR = 10;
const ROOT = 100;

/** The name of role 1, 10 or 100. */
export function roleName(role: number): string {
  const { user, administrator, root } = texts.shell.roles;
  if (role >= ROOT) return root;
  return role >= ADMINISTRATOR ? administrator : user;
}
