import type { Fault } from '../../../../api/error';
import { formatInteger } from '../../../../format/locale';
import { sentence } from '../../../../format/sentence';
import { texts } from '../../../../texts';
import { textOf } from '../../../../texts/textOf';

const words = texts.adminBulk;

/** For example "line 3, ana: There is no such user." */
export function faultText({ error, message, line, username, id }: Fault): string {
  const place = line == null ? undefined : words.line(formatInteger(line));
  const name = username || (id == null ? undefined : texts.adminLists.userNumber(id));
  const who = [place, name].filter((part) => part !== undefined).join(', ');
  // The message about a change begins with the name of who made it.
  const reason = reasonOf(error, error === 'user_changed' ? `${message}.` : sentence(message));
  return who ? words.fault(who, reason) : reason;
}

function reasonOf(code: string, details: string): string {
  return textOf<(details: string) => string>(words.faults, code)?.(details) ?? details;
}
