import type { AuditLine } from '../../../api/adminAudit';
import { formatList } from '../../../format/list';
import { formatUsdExact } from '../../../format/money';
import { roleName } from '../../../format/role';
import { texts } from '../../../texts';
import { usernameOf } from '../shared/usernameOf';

type Names = ReadonlyMap<number, string> | undefined;

export interface Detail {
  label: string;
  value: string;
}

const words = texts.adminAudit;
const DISABLED = '2';

/** The text for a value of the API. A value without a text is returned unchanged. */
function labelOf(known: Record<string, string>, value: string): string {
  return known[value] ?? value;
}

export function actionName(action: string): string {
  return labelOf(words.actions, action);
}

export function actorName(line: Pick<AuditLine, 'actor_name' | 'ip'>): string {
  // Commands that the operator runs on the server have no IP address.
  return line.actor_name || (line.ip ? words.notSignedIn : words.operator);
}

/** For example "Key 7 (ana)", "ana" or "Gateway 2". The owner is left out if the owner did the action. */
export function subjectName(
  line: Pick<AuditLine, 'subject_kind' | 'subject_id' | 'user_id' | 'actor_id'>,
  names: Names,
): string {
  const { subject_kind, subject_id, user_id, actor_id } = line;
  if (subject_id == null) return words.unknownAccount;
  if (subject_kind === 'user') return usernameOf(subject_id, names);
  const subject = words.numbered(labelOf(words.kinds, subject_kind), subject_id);
  return user_id == null || user_id === actor_id
    ? subject
    : words.ownedBy(subject, usernameOf(user_id, names));
}

/** The details of an entry as labels and values. */
export function detailsOf(details: AuditLine['details']): Detail[] {
  const { from, to, ...others } = details;
  const list = Object.entries(others).map(([name, value]) => ({
    label: labelOf(labels, name),
    value: readable(name, value),
  }));
  if (from !== undefined && to !== undefined) {
    list.unshift({ label: words.details.wallet, value: words.details.fromTo(usd(from), usd(to)) });
  }
  return list;
}

const { fields, role, status, remain_quota, group, name, credential } = words.details;
const labels: Record<string, string> = { fields, role, status, remain_quota, group, name, credential };

function readable(name: string, value: string): string {
  switch (name) {
    case 'fields':
      return formatList(value.split(',').map((field) => labelOf(words.fields, field)));
    case 'role':
      return roleName(Number(value));
    case 'status':
      return value === DISABLED ? words.details.disabled : words.details.enabled;
    case 'remain_quota':
      return usd(value);
    case 'group':
      return value || words.details.ownGroup;
    default:
      return value;
  }
}

function usd(units: string): string {
  return /^\d{1,15}$/.test(units) ? formatUsdExact(Number(units)) : units;
}
