import type { User } from '../../../api/session';

type Who = Pick<User, 'id' | 'role'>;
type Disabled = Pick<User, 'disabled_by'>;

const USER = 1;
const ADMINISTRATOR = 10;
const ROOT = 100;
const ROLES = [USER, ADMINISTRATOR, ROOT];

// The server decides; this only keeps what it surely refuses out of the menus.

function isBelow(actor: Who, role: number): boolean {
  return actor.role >= ROOT || (actor.role >= ADMINISTRATOR && role < actor.role);
}

/** Administrators change users, root changes everybody. */
export function mayManage(actor: Who, subject: Who): boolean {
  return isBelow(actor, subject.role);
}

/** Nobody can lock themselves out: by role, status or deletion, or by a password that ends their session. */
export function mayLockOut(actor: Who, subject: Who): boolean {
  return actor.id !== subject.id && mayManage(actor, subject);
}

/** What root disabled only root enables. */
export function mayEnable(actor: Who, subject: Disabled): boolean {
  return actor.role >= ROOT || subject.disabled_by !== 'root';
}

export function assignableRoles(actor: Who): number[] {
  return ROLES.filter((role) => isBelow(actor, role));
}

/** Administrators are enabled for the token API by birth. */
export function isEnabledByRole(role: number): boolean {
  return role >= ADMINISTRATOR;
}
