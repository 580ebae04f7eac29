import { language } from '../texts';

/** The reader's own variant of the language of the texts ("en-GB"), so that a page never mixes two languages. */
export const locale =
  navigator.languages.find((tag) => tag === language || tag.startsWith(`${language}-`)) ?? language;
