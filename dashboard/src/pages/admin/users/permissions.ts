import { roles } from '../../../api/serverLimits';
import { isAdministrator, type Role, type User } from '../../../api/session';

type Who = Pick<User, 'id' | 'role'>;
type Disabled = Pick<User, 'disabled_by'>;

// The server enforces these rules. The dashboard only hides actions that the server would refuse.

function isBelow(actor: Who, role: number): boolean {
  return actor.role >= roles.root || (isAdministrator(actor) && role < actor.role);
}

/** Administrators can change users. Root can change all accounts. */
export function mayManage(actor: Who, subject: Who): boolean {
  return isBelow(actor, subject.role);
}

/** For changes of role, status or password, and deletion. Users must not lock themselves out. */
export function mayLockOut(actor: Who, subject: Who): boolean {
  return actor.id !== subject.id && mayManage(actor, subject);
}

/** Administrators can change the keys of users who have API access, and root those of all others who have it. */
export function mayChangeKeys(actor: Who, owner: Who & Pick<User, 'token_api_enabled'>): boolean {
  return mayLockOut(actor, owner) && owner.token_api_enabled;
}

/** Only root can enable an account that root disabled. */
export function mayEnable(actor: Who, subject: Disabled): boolean {
  return actor.role >= roles.root || subject.disabled_by !== 'root';
}

export function assignableRoles(actor: Who): Role[] {
  return Object.values(roles).filter((role) => isBelow(actor, role));
}

/** Administrators always have access to the token API. */
export function isEnabledByRole(role: Role): boolean {
  return isAdministrator({ role });
}
