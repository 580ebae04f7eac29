import { en } from '../../src/texts/en';
import { zh } from '../../src/texts/zh';
import type { Fonts } from './fonts';

/** How the dashboard looks. */
export interface Look {
  colorScheme: 'light' | 'dark';
  fonts: Fonts;
  locale: 'en-US' | 'zh-CN';
  texts: typeof en;
}

export const LIGHT: Look = {
  colorScheme: 'light',
  fonts: 'dejavu',
  locale: 'en-US',
  texts: en,
};
export const DARK: Look = {
  colorScheme: 'dark',
  fonts: 'noto',
  locale: 'zh-CN',
  texts: zh,
};

export function lookName({ colorScheme, fonts, locale }: Omit<Look, 'texts'>): string {
  return `${colorScheme}, ${fonts}, ${locale}`;
}
