import type { AuditLine } from '../../../api/adminAudit';
import { formatList } from '../../../format/list';
import { formatUsdExact } from '../../../format/money';
import { roleName } from '../../../format/role';
import { texts } from '../../../texts';
import { textOf } from '../../../texts/textOf';

export interface Detail {
  label: string;
  value: string;
}

const words = texts.adminAudit;
const DISABLED = '2';

/** The fields of keys and of users. */
const fieldNames: Record<string, string> = {
  ...Object.fromEntries(Object.entries(texts.keys.fields).map(([name, { changed }]) => [name, changed])),
  ...words.fields,
};

/** The text for a value of the API. A value without a text is returned unchanged. */
function labelOf(known: Record<string, string>, value: string): string {
  return textOf(known, value) ?? value;
}

export function actionName(action: string): string {
  return labelOf(words.actions, action);
}

type Act = Pick<AuditLine, 'actor_name' | 'ip'> & Partial<Pick<AuditLine, 'request_id'>>;

export function actorName(line: Act): string {
  // What the service does by itself, and commands that the operator runs on the server, have no IP address.
  const local = line.request_id === 'service' ? words.service : words.operator;
  return line.actor_name || (line.ip ? words.notSignedIn : local);
}

type Subject = Pick<AuditLine, 'subject_kind' | 'subject_id' | 'subject_name' | 'actor_id'> &
  Partial<Pick<AuditLine, 'user_id' | 'user_name'>>;

/** For example "Key “Website” (ana)", "ana" or "Gateway 2". The owner is left out if the owner did the action. */
export function subjectName({ subject_kind, subject_id, subject_name, ...line }: Subject): string {
  if (subject_id == null) return words.unknownAccount;
  if (subject_kind === 'user') return subject_name ?? texts.adminLists.userNumber(subject_id);
  const kind = labelOf(words.kinds, subject_kind);
  const subject = subject_name ? words.named(kind, subject_name) : words.numbered(kind, subject_id);
  const owner = ownerName(line);
  return owner === undefined || line.user_id === line.actor_id ? subject : words.ownedBy(subject, owner);
}

/** The username of the account that the resource belongs to, or "User 7". */
export function ownerName({
  user_id,
  user_name,
}: Pick<Subject, 'user_id' | 'user_name'>): string | undefined {
  return user_id == null ? undefined : (user_name ?? texts.adminLists.userNumber(user_id));
}

/** The details of an entry as labels and values. */
export function detailsOf(details: AuditLine['details']): Detail[] {
  const { from, to, ...others } = details;
  const list = Object.entries(others).map(([name, value]) => ({
    label: labelOf(words.details.labels, name),
    value: readable(name, value),
  }));
  if (from !== undefined && to !== undefined) {
    list.unshift({ label: words.details.wallet, value: words.details.fromTo(usd(from), usd(to)) });
  }
  return list;
}

function readable(name: string, value: string): string {
  switch (name) {
    case 'fields':
      return formatList(value.split(',').map((field) => labelOf(fieldNames, field)));
    case 'role':
      return roleName(Number(value));
    case 'status':
      return value === DISABLED ? words.details.disabled : words.details.enabled;
    case 'remain_quota':
    case 'quota':
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
