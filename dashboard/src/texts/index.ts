import { en } from './en';

/** Another language is another object of this shape. */
export type Texts = typeof en;

export const language = 'en';
export const texts: Texts = en;
