import type { User } from '../../../api/session';

type Who = Pick<User, 'id' | 'role'>;
type Disabled = Pick<User, 'disabled_by'>;

const USER = 1;
const ADMINISTRATOR = 10;
const ROOT = 100;
const ROLES = [USER, ADMINISTRATOR, ROOT];

// The server enforces these rules. The dashboard only hides actions that the server would refuse.

function isBelow(actor: Who, role: number): boolean {
  return actor.role >= ROOT || (actor.role >= ADMINISTRATOR && role < actor.role);
}

/** Administrators can change users. Root can change all accounts. */
export function mayManage(actor: Who, subject: Who): boolean {
  return isBelow(actor, subject.role);
}

/** For changes of role, status or password, and deletion. Users must not lock themselves out. */
export function mayLockOut(actor: Who, subject: Who): boolean {
  return actor.id !== subject.id && mayManage(actor, subject);
}

/** Only root can enable an account that root disabled. */
export function mayEnable(actor: Who, subject: Disabled): boolean {
  return actor.role >= ROOT || subject.disabled_by !== 'root';
}

export function assignableRoles(actor: Who): number[] {
  return ROLES.filter((role) => isBelow(actor, role));
}

/** Administrators always have access to the token API. */
export function isEnabledByRole(role: number): boolean {
  return role >= ADMINISTRATOR;
}
