import type { Rotated } from '../../../api/oldKeys';
import type { Token } from '../../../api/tokens';

/** By which Excel knows that the text is UTF-8. */
const MARK = '\ufeff';
/** Spreadsheets read what begins with one of these as a formula, some of them also the full-width ones. */
const FORMULA = /^[=+\-@\t\r＝＋－＠]/;

/** The new keys of these tokens as CSV (RFC 4180), by name. */
export function keysFile(tokens: Token[], rotated: Rotated[]): string {
  const names = new Map(tokens.map(({ id, name }) => [id, name]));
  const lines = rotated.map(({ id, key }) => [cell(names.get(id) ?? String(id)), key].join());
  return `${MARK}${['name,key', ...lines].join('\r\n')}\r\n`;
}

/** As the server writes cells: in quotes if it needs them, and never a formula. */
function cell(text: string): string {
  const guarded = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(text) ? `"${guarded.replaceAll('"', '""')}"` : guarded;
}
