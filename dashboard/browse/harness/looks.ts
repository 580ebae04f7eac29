import { en } from '../../src/texts/en';
import { zh } from '../../src/texts/zh';
import type { Fonts } from './fonts';
import { type Screen, screensOf, WIDTHS, zoomed } from './layout';

/** How the dashboard looks, and the screens on which it is checked. */
export interface Look {
  colorScheme: 'light' | 'dark';
  fonts: Fonts;
  locale: 'en-US' | 'zh-CN';
  texts: typeof en;
  screens: Screen[];
}

/** Chinese texts are shorter. They are checked on fewer screens. */
const SCREENS = [...screensOf(...WIDTHS), ...zoomed(2)];
const CHINESE_SCREENS = [...screensOf(320, 390, 1280), ...zoomed(1.25)];

export const LIGHT: Look = {
  colorScheme: 'light',
  fonts: 'dejavu',
  locale: 'en-US',
  texts: en,
  screens: SCREENS,
};
export const DARK: Look = {
  colorScheme: 'dark',
  fonts: 'noto',
  locale: 'zh-CN',
  texts: zh,
  screens: CHINESE_SCREENS,
};

export function lookName({ colorScheme, fonts, locale }: Look): string {
  return `${colorScheme}, ${fonts}, ${locale}`;
}
