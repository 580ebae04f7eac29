import { en } from './en';

/** A translation is an object of this type. */
export type Texts = typeof en;

export const language = 'en';
export const texts: Texts = en;
