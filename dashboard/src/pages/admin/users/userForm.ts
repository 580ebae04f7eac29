import type { NewUser, UserPatch } from '../../../api/adminUsers';
import { NO_LIMIT, type PeriodLimits, periods } from '../../../api/limits';
import { requestLimits, roles } from '../../../api/serverLimits';
import type { Role, User } from '../../../api/session';
import { parseInteger } from '../../../format/typed';
import { atField } from '../../../shared/form/atField';
import {
  changedLimits,
  emptyPeriods,
  type PeriodDraft,
  periodDraftOf,
  periodError,
  periodLimitsOf,
} from '../../../shared/limits/draft';
import { texts } from '../../../texts';
import { isEnabledByRole } from './permissions';

/** The fields of an account that can be set on creation and changed later. */
export interface UserForm {
  display_name: string;
  email: string;
  role: Role;
  group: string;
  token_api_enabled: boolean;
  /** As typed. Empty means the default limit. */
  max_tokens: string;
  period_limits: PeriodDraft;
}

/** Of an account without any. */
const NO_LIMITS: PeriodLimits = { day: NO_LIMIT, week: NO_LIMIT, month: NO_LIMIT };
const GENERAL_LIMIT = requestLimits.NewUserBody.max_tokens.minimum;

export const emptyUserForm: UserForm = {
  display_name: '',
  email: '',
  role: roles.user,
  group: '',
  token_api_enabled: true,
  max_tokens: '',
  period_limits: emptyPeriods,
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
    period_limits: periodDraftOf(user.period_limits),
  };
}

/** Returns `undefined` if the text is not a valid limit. */
export function readLimit(typed: string): number | undefined {
  if (typed.trim() === '') return GENERAL_LIMIT;
  const limit = parseInteger(typed);
  return limit !== undefined && limit <= requestLimits.NewUserBody.max_tokens.maximum ? limit : undefined;
}

export function limitError(typed: string): string | undefined {
  return readLimit(typed) === undefined ? texts.adminUsers.fields.limitError : undefined;
}

export function periodErrors(draft: PeriodDraft) {
  return Object.fromEntries(periods.map((period) => [`period_limits.${period}`, periodError(draft[period])]));
}

/** The fields at which the server refuses what only it can check. */
export const userRefusals = atField({
  invalid_username: 'username',
  username_taken: 'username',
  invalid_email: 'email',
  invalid_group: 'group',
});

/** Leaves out empty fields, for which the server has defaults. */
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
    period_limits: changedLimits(periodLimitsOf(form.period_limits), NO_LIMITS),
  };
}

/** Contains only changed fields, so that it does not undo concurrent changes of other fields. */
export function userPatchOf(form: UserForm, user: User): UserPatch {
  const before = userFormOf(user);
  const patch: UserPatch = {};
  if (form.display_name !== before.display_name) patch.display_name = form.display_name;
  if (form.email !== before.email) patch.email = form.email;
  if (form.role !== before.role) patch.role = form.role;
  if (form.group !== before.group) patch.group = form.group;
  if (form.max_tokens.trim() !== before.max_tokens) patch.max_tokens = readLimit(form.max_tokens);
  const limits = changedLimits(periodLimitsOf(form.period_limits), user.period_limits);
  if (limits) patch.period_limits = limits;
  // Administrators always have access. The stored value applies when the account loses that role.
  const losesRole = isEnabledByRole(before.role) && !isEnabledByRole(form.role);
  if (!isEnabledByRole(form.role) && (losesRole || form.token_api_enabled !== before.token_api_enabled)) {
    patch.token_api_enabled = form.token_api_enabled;
  }
  return patch;
}
