import { language, languageTags } from '../texts/language';

const preferred = globalThis.navigator?.languages ?? [];

/** The variant of the language of the texts that the browser prefers, such as "en-GB". */
export const locale = preferred.find(isVariant) ?? languageTags[language];

const integers = new Intl.NumberFormat(locale);

/** For example "1,200". */
export function formatInteger(value: number): string {
  return integers.format(value);
}

/** Also compares the script: the Chinese texts have simplified characters, so "zh-TW" is no variant. */
function isVariant(tag: string): boolean {
  return tag.split('-')[0] === language && scriptOf(tag) === scriptOf(languageTags[language]);
}

function scriptOf(tag: string): string | undefined {
  return new Intl.Locale(tag).maximize().script;
}
