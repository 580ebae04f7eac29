import { formatInteger } from '../../../format/locale';
import { sentence } from '../../../format/sentence';
import { texts } from '../../../texts';

const { details, notes } = texts.adminImports;

type Render = (first: string, second: string) => string;

const number = (text: string) => formatInteger(Number(text));

/** The server quotes texts like Rust. Characters that are not visible stay escaped. */
const unquote = (text: string) => text.slice(1, -1).replace(/\\(["'\\])/g, '$1');

const QUOTED = String.raw`("(?:[^"\\]|\\.)*")`;
const BECAME: [RegExp, Render] = [
  new RegExp(`^${QUOTED} became ${QUOTED}$`),
  (old, changed) => details.became(unquote(old), unquote(changed)),
];
const STATUS: [RegExp, Render] = [/^(?:status )?(-?\d+)$/, details.status];

/** The details of findings that contain words or need some. Others are names, addresses, groups or days. */
const KNOWN_DETAILS: Record<string, [RegExp, Render]> = {
  username_changed: BECAME,
  username_taken: BECAME,
  token_name_changed: BECAME,
  role_unknown: [/^(-?\d+)$/, details.role],
  user_status_unknown: STATUS,
  switched_off: STATUS,
  revived: STATUS,
  expired_from_the_start: [/^(-?\d+)$/, details.expiry],
  key_invalid: [/^(\d+) characters$/, (count) => details.characters(Number(count))],
  models_dropped: [/^(\d+) of (\d+)$/, (dropped, all) => details.dropped(number(dropped), number(all))],
};

const KNOWN_NOTES: [RegExp, Render][] = [
  [/^there is no table `logs`, so no history is imported; --logs names another/, () => notes.noHistory],
  [
    /^1 USD is (\S+) quota units there and (\d+) here; quota units are moved as they are$/,
    (there, here) => notes.unitsDiffer(/^\d{1,15}$/.test(there) ? number(there) : there, number(here)),
  ],
];

/** The detail of a finding. The report has it in English, without a code. Unknown ones stay as they are. */
export function detailText(code: string, detail: string): string {
  const known = Object.hasOwn(KNOWN_DETAILS, code) ? KNOWN_DETAILS[code] : undefined;
  return (known && translated([known], detail)) ?? detail;
}

export interface Note {
  text: string;
  /** The language of a note that is not known. */
  lang?: 'en';
}

/** A note of a report, which has it in English, without a code. */
export function noteOf(note: string): Note {
  const text = translated(KNOWN_NOTES, note);
  return text === undefined ? { text: sentence(note), lang: 'en' } : { text };
}

function translated(known: [RegExp, Render][], english: string): string | undefined {
  for (const [pattern, render] of known) {
    const match = pattern.exec(english);
    if (match) return render(match[1] ?? '', match[2] ?? '');
  }
  return undefined;
}
