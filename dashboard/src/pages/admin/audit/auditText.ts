import type { AuditLine } from '../../../api/adminAudit';
import { formatList } from '../../../format/list';
import { formatUsd } from '../../../format/money';
import { roleName } from '../../../format/role';
import { formatDateTime, formatDuration } from '../../../format/time';
import { texts } from '../../../texts';
import { textOf } from '../../../texts/textOf';

export interface Detail {
  label: string;
  value: string;
}

const words = texts.adminAudit;
const DISABLED = '2';
const NEVER = '-1';

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

/** The details and the changes of an entry as labels and values. */
export function detailsOf({ details, changes }: Pick<AuditLine, 'details' | 'changes'>): Detail[] {
  // `batch` names a call, for its undo.
  const { from, to, grace_from, grace_seconds, batch: _, ...others } = details;
  // The changes name the fields too; entries of older versions have none. An edit can change nothing.
  const facts = Object.entries(others).filter(
    ([name, value]) => name !== 'fields' || (changes.length === 0 && value !== ''),
  );
  const list = facts.map(([name, value]) => ({
    label: labelOf(words.details.labels, name),
    value: readable(name, value),
  }));
  if (from !== undefined && to !== undefined) {
    list.unshift({ label: words.details.wallet, value: words.details.fromTo(usd(from), usd(to)) });
  }
  if (grace_seconds !== undefined) {
    list.push({ label: words.details.grace.label, value: graceText(Number(grace_seconds), grace_from) });
  }
  return [...list, ...changes.map(changeOf)];
}

/** How long the key works that was replaced. */
function graceText(seconds: number, from: string | undefined): string {
  const { ended, until_use, now, first_use } = words.details.grace;
  const waits = from === 'first_use';
  if (seconds === 0) return waits ? until_use : ended;
  return (waits ? first_use : now)(formatDuration(seconds));
}

/** For example "quota left: $1.00 → $2.00", or "models: added gpt-4o; removed o1". */
function changeOf({ field, old, new: now, added, removed, left_out }: AuditLine['changes'][number]): Detail {
  const label = labelOf(fieldNames, field);
  if (old != null || now != null) {
    return { label, value: words.details.fromTo(changedValue(field, old), changedValue(field, now)) };
  }
  const parts = [
    added.length > 0 && words.changes.added(formatList(added)),
    removed.length > 0 && words.changes.removed(formatList(removed)),
    left_out > 0 && words.changes.leftOut(left_out),
  ].filter((part) => part !== false);
  return { label, value: parts.join(words.changes.separator) || words.changes.hidden };
}

function changedValue(field: string, value: string | null | undefined): string {
  if (value == null) return words.changes.none;
  if (field.startsWith('period_limits.')) return usd(value);
  if (field === 'expired_time') return value === NEVER ? words.changes.never : time(value);
  if (value === 'true' || value === 'false') return value === 'true' ? words.changes.on : words.changes.off;
  return readable(field, value) || words.changes.none;
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

function time(seconds: string): string {
  return /^-?\d+$/.test(seconds) ? formatDateTime(Number(seconds)) : seconds;
}

function usd(units: string): string {
  return /^\d{1,15}$/.test(units) ? formatUsd(Number(units)) : units;
}
