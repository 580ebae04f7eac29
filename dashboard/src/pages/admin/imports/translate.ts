import type { ImportDetail, ImportNote } from '../../../api/adminImports';
import { formatInteger } from '../../../format/locale';
import { sentence } from '../../../format/sentence';
import { texts } from '../../../texts';

const { details, notes } = texts.adminImports;

/** What exactly was found about a row. Amounts are shown as money instead. */
export function detailText(detail: ImportDetail): string {
  if ('from' in detail) return details.became(shown(detail.from), shown(detail.to));
  if ('text' in detail) return detail.text;
  if ('username' in detail) return details.account(detail.username, String(detail.role));
  if ('role' in detail) return details.role(String(detail.role));
  if ('status' in detail) return details.status(String(detail.status));
  if ('expired_time' in detail) return details.expiry(String(detail.expired_time));
  if ('length' in detail) return details.characters(detail.length);
  if ('dropped' in detail) return details.dropped(formatInteger(detail.dropped), formatInteger(detail.of));
  if ('rows' in detail) return details.rows(detail.name, detail.rows);
  return detail.day ?? '';
}

/** Characters that nobody sees, as their code points. */
function shown(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (char) => `\\u{${char.codePointAt(0)?.toString(16)}}`);
}

interface NoteText {
  text: string;
  /** The language of a note that is not known. */
  lang?: 'en';
}

/** A note in the language of the page. */
export function noteOf({
  code,
  message,
  source_value: there = '',
  target_value: here = 0,
}: ImportNote): NoteText {
  switch (code) {
    case 'no_logs':
      return { text: notes.noHistory };
    case 'logs_empty':
      return { text: notes.logsEmpty };
    case 'still_growing':
      return { text: notes.stillGrowing };
    case 'quota_units_differ': {
      const isNumber = /^\d{1,15}$/.test(there);
      return {
        text: notes.unitsDiffer(isNumber ? formatInteger(Number(there)) : there, formatInteger(here)),
      };
    }
    default:
      return { text: sentence(message), lang: 'en' };
  }
}
