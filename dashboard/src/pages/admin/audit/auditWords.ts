import type { AuditLine } from '../../../api/adminAudit';
import { formatUsdExact } from '../../../format/money';
import { roleName } from '../../../format/role';
import { texts } from '../../../texts';
import { nameOf } from '../shared/nameOf';

type Names = ReadonlyMap<number, string> | undefined;

export interface Fact {
  label: string;
  value: string;
}

const words = texts.adminAudit;
const DISABLED = '2';

/** A word of the server in the reader's language; as it is where the server has learnt a new one. */
function wordOf(known: Record<string, string>, word: string): string {
  return known[word] ?? word;
}

export function actionName(action: string): string {
  return wordOf(words.actions, action);
}

export function actorName(line: Pick<AuditLine, 'actor_name' | 'ip'>): string {
  // What the operator does on the machine itself comes from no address.
  return line.actor_name || (line.ip ? words.nobody : words.operator);
}

/** "Key 7 of ana", "ana", "Gateway 2"; the owner is not repeated where it is the one who acts. */
export function subjectName(
  line: Pick<AuditLine, 'subject_kind' | 'subject_id' | 'user_id' | 'actor_id'>,
  names: Names,
): string {
  const { subject_kind, subject_id, user_id, actor_id } = line;
  if (subject_id == null) return words.unknownAccount;
  if (subject_kind === 'user') return nameOf(subject_id, names);
  const subject = words.numbered(wordOf(words.kinds, subject_kind), subject_id);
  return user_id == null || user_id === actor_id ? subject : words.of(subject, nameOf(user_id, names));
}

/** The facts beside the action, in words. */
export function factsOf(details: AuditLine['details']): Fact[] {
  const { from, to, ...others } = details;
  const facts = Object.entries(others).map(([name, value]) => ({
    label: wordOf(labels, name),
    value: readable(name, value),
  }));
  if (from !== undefined && to !== undefined) {
    facts.unshift({ label: words.facts.wallet, value: words.facts.fromTo(usd(from), usd(to)) });
  }
  return facts;
}

const { fields, role, status, remain_quota, group, name, credential } = words.facts;
const labels: Record<string, string> = { fields, role, status, remain_quota, group, name, credential };

function readable(name: string, value: string): string {
  switch (name) {
    case 'fields':
      return value
        .split(',')
        .map((field) => wordOf(words.fields, field))
        .join(', ');
    case 'role':
      return roleName(Number(value));
    case 'status':
      return value === DISABLED ? words.facts.disabled : words.facts.enabled;
    case 'remain_quota':
      return usd(value);
    case 'group':
      return value || words.facts.ownGroup;
    default:
      return value;
  }
}

function usd(units: string): string {
  return /^\d{1,15}$/.test(units) ? formatUsdExact(Number(units)) : units;
}
