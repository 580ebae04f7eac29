import { type Language, language } from '../format/locale';
import type { en } from './en';

/** Texts, and functions for texts with values. Each language is an object of this type. */
export type Texts = typeof en;

// Each language is a chunk of its own, so that nobody downloads the others.
const loaders: Record<Language, () => Promise<Texts>> = {
  en: async () => (await import('./en')).en,
  zh: async () => (await import('./zh')).zh,
};

/** The texts in the language of the user. `loadTexts` sets them before any module that reads them loads. */
export let texts: Texts;

export async function loadTexts(of: Language = language) {
  texts = await loaders[of]();
}
