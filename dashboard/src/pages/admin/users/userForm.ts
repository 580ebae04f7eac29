import type { NewUser, UserPatch } from '../../../api/adminUsers';
import type { User } from '../../../api/session';
import { isEnabledByRole } from './permissions';

/** What can be said about an account both when it is made and later. */
export interface UserForm {
  display_name: string;
  email: string;
  role: number;
  group: string;
  token_api_enabled: boolean;
  /** As typed; empty for the general limit. */
  max_tokens: string;
}

const GENERAL_LIMIT = -1;

export const emptyUserForm: UserForm = {
  display_name: '',
  email: '',
  role: 1,
  group: '',
  token_api_enabled: true,
  max_tokens: '',
};

export function userFormOf(user: User): UserForm {
  const { display_name, email, role, group, token_api_enabled } = user;
  return {
    display_name,
    email,
    role,
    group,
    token_api_enabled,
    max_tokens: user.max_tokens?.toString() ?? '',
  };
}

/** `undefined` for what is no limit. */
export function readLimit(typed: string): number | undefined {
  const text = typed.trim();
  if (text === '') return GENERAL_LIMIT;
  return /^\d{1,7}$/.test(text) ? Number(text) : undefined;
}

/** A new account with what is filled in; the server has defaults for the rest. */
export function newUserOf(form: UserForm, username: string, password: string, quota?: number): NewUser {
  return {
    username,
    password,
    quota,
    display_name: form.display_name || undefined,
    email: form.email || undefined,
    role: form.role,
    group: form.group || undefined,
    token_api_enabled: isEnabledByRole(form.role) ? undefined : form.token_api_enabled,
    max_tokens: readLimit(form.max_tokens),
  };
}

/** Only what differs: nobody's change of something else meanwhile is undone, and the audit log stays true. */
export function userPatchOf(form: UserForm, user: User): UserPatch {
  const before = userFormOf(user);
  const patch: UserPatch = {};
  if (form.display_name !== before.display_name) patch.display_name = form.display_name;
  if (form.email !== before.email) patch.email = form.email;
  if (form.role !== before.role) patch.role = form.role;
  if (form.group !== before.group) patch.group = form.group;
  if (form.max_tokens.trim() !== before.max_tokens) patch.max_tokens = readLimit(form.max_tokens);
  // An administrator is enabled by role, whatever is stored; it counts from when the role is gone.
  const losesRole = isEnabledByRole(before.role) && !isEnabledByRole(form.role);
  if (!isEnabledByRole(form.role) && (losesRole || form.token_api_enabled !== before.token_api_enabled)) {
    patch.token_api_enabled = form.token_api_enabled;
  }
  return patch;
}
