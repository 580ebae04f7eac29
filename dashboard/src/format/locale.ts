import { language } from '../texts';

/** The variant of the text language that the browser prefers, such as "en-GB". */
export const locale =
  navigator.languages.find((tag) => tag === language || tag.startsWith(`${language}-`)) ?? language;
