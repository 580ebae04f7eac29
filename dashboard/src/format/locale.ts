// The languages that the browser prefers. Node.js 20, which runs tests, has no `navigator`. Some browsers on Linux name
// "en-US@posix", for which `Intl` throws.
const tags = (globalThis.navigator?.languages ?? []).filter(isWellFormed);

/** The languages of the dashboard, each by its own name. */
export const languages = { en: 'English', zh: '简体中文' };
export type Language = keyof typeof languages;

/** Values of the `lang` attribute. */
export const languageTags: Record<Language, string> = { en: 'en', zh: 'zh-CN' };

const STORAGE_KEY = 'keymeter-language';

/** The language that the user chose, or else the first language of the browser that the dashboard has. */
export const language: Language = chosen() ?? preferred() ?? 'en';

function chosen(): Language | undefined {
  try {
    const stored = localStorage.getItem(STORAGE_KEY);
    return stored !== null && isLanguage(stored) ? stored : undefined;
  } catch {
    // The browser blocks storage.
    return undefined;
  }
}

function preferred(): Language | undefined {
  return tags.map((tag) => tag.split('-')[0] ?? '').find(isLanguage);
}

function isLanguage(text: string): text is Language {
  return Object.hasOwn(languages, text);
}

/** Keeps the choice and loads the page again, because every module reads its texts when it loads. */
export function chooseLanguage(choice: Language) {
  try {
    localStorage.setItem(STORAGE_KEY, choice);
  } catch {
    // The browser blocks storage, so the choice cannot be kept.
    return;
  }
  window.location.reload();
}

/** The variant of the language of the texts that the browser prefers, such as "en-GB". */
export const locale = tags.find(isVariant) ?? languageTags[language];

/**
 * The locales by which typed numbers are read: first the one that the dashboard writes, then those of the browser. In a
 * German browser, the dashboard is English, and people type "0,50" all the same.
 */
export const typedLocales: readonly string[] = [...new Set([locale, ...tags])];

const integers = new Intl.NumberFormat(locale);

/** For example "1,200". */
export function formatInteger(value: number): string {
  return integers.format(value);
}

/** Also compares the script: the Chinese texts have simplified characters, so "zh-TW" is no variant. */
function isVariant(tag: string): boolean {
  return tag.split('-')[0] === language && scriptOf(tag) === scriptOf(languageTags[language]);
}

function isWellFormed(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length > 0;
  } catch {
    return false;
  }
}

function scriptOf(tag: string): string | undefined {
  return new Intl.Locale(tag).maximize().script;
}
