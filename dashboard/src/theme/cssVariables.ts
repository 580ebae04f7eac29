import type { CSSVariablesResolver } from '@mantine/core';

/**
 * Replaces Mantine colours that do not reach WCAG AA, and adds the page background and five status colours, each with a
 * background tint.
 */
export const cssVariablesResolver: CSSVariablesResolver = (theme) => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': '#566166',
    '--mantine-color-placeholder': '#667176',
    '--mantine-color-error': theme.colors.red?.[7] ?? '',
    '--mantine-color-default-border': '#dde3e5',
    '--km-page': '#f4f7f7',
    '--km-accent': theme.colors.petrol?.[7] ?? '',
    '--km-ok': '#146c3c',
    '--km-ok-tint': '#e2f4e8',
    '--km-off': '#505b60',
    '--km-off-tint': '#e9edee',
    '--km-warn': '#85500a',
    '--km-warn-tint': '#fcf0d6',
    '--km-bad': '#a52521',
    '--km-bad-tint': '#fce6e4',
    '--km-info': '#0d5c64',
    '--km-info-tint': '#ddf0f1',
  },
  dark: {
    '--mantine-color-dimmed': '#9ba7ab',
    '--mantine-color-placeholder': '#8d999d',
    '--mantine-color-error': '#f59a94',
    '--mantine-color-anchor': theme.colors.petrol?.[3] ?? '',
    '--mantine-color-default-border': '#333d41',
    '--mantine-color-petrol-light': '#163438',
    '--mantine-color-petrol-light-hover': '#1b4045',
    '--mantine-color-petrol-light-color': '#86c8cd',
    '--mantine-color-red-light': '#42211f',
    '--mantine-color-red-light-hover': '#4e2725',
    '--mantine-color-red-light-color': '#f8a49f',
    '--km-page': '#111517',
    '--km-accent': theme.colors.petrol?.[4] ?? '',
    '--km-ok': '#82d9a3',
    '--km-ok-tint': '#17352a',
    '--km-off': '#b1bbbf',
    '--km-off-tint': '#2c3539',
    '--km-warn': '#f2c46d',
    '--km-warn-tint': '#3a2f17',
    '--km-bad': '#f8a49f',
    '--km-bad-tint': '#42211f',
    '--km-info': '#86c8cd',
    '--km-info-tint': '#163438',
  },
});
