import {
  ActionIcon,
  createTheme,
  DEFAULT_THEME,
  type MantineColorsTuple,
  Modal,
  mergeMantineTheme,
  Notification,
  Paper,
  PasswordInput,
  Table,
  Tooltip,
} from '@mantine/core';
import { texts } from '../texts';

// White text on shade 7 has a contrast of 5.6:1; shade 3 on dark surfaces has more than 8:1.
const petrol: MantineColorsTuple = [
  '#eef8f8',
  '#d8edee',
  '#b1dbde',
  '#86c8cd',
  '#5fb5bc',
  '#3c9fa7',
  '#22868f',
  '#12727b',
  '#0d5c64',
  '#08464d',
];

const red: MantineColorsTuple = [
  '#fdf1f0',
  '#fadedc',
  '#f5bab6',
  '#f0938d',
  '#e96f68',
  '#dd4f48',
  '#cf3a35',
  '#bb2b28',
  '#982220',
  '#751917',
];

const gray: MantineColorsTuple = [
  '#f7f9f9',
  '#eff2f3',
  '#e4e9ea',
  '#d5dcde',
  '#bcc5c8',
  '#98a3a7',
  '#707c81',
  '#515c61',
  '#384146',
  '#1e262a',
];

const dark: MantineColorsTuple = [
  '#e2e7e8',
  '#c4cccf',
  '#9ba7ab',
  '#78858a',
  '#3a454a',
  '#343e42',
  '#262e32',
  '#1a2023',
  '#14191b',
  '#0e1214',
];

// The list itself scrolls, so that the arrow keys can scroll it.
const listThatScrolls = {
  defaultProps: { withScrollArea: false },
  styles: { options: { maxHeight: 300, overflowY: 'auto' } },
};

const overrides = createTheme({
  primaryColor: 'petrol',
  primaryShade: 7,
  colors: { petrol, red, gray, dark },
  black: '#1e262a',
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace',
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  headings: {
    fontWeight: '650',
    sizes: {
      h1: { fontSize: '1.625rem', lineHeight: '1.25' },
      h2: { fontSize: '1.125rem', lineHeight: '1.4' },
      h3: { fontSize: '1rem', lineHeight: '1.45' },
    },
  },
  components: {
    ActionIcon: ActionIcon.extend({ defaultProps: { variant: 'subtle', color: 'gray', size: 'lg' } }),
    Modal: Modal.extend({
      defaultProps: {
        centered: true,
        padding: 'lg',
        overlayProps: { backgroundOpacity: 0.5 },
        closeButtonProps: { 'aria-label': texts.common.close },
        // Otherwise Mantine adds a second `banner` landmark.
        attributes: { header: { role: 'presentation' } },
      },
      // Names can be long and without a place to break the line.
      styles: {
        title: { fontSize: '1.125rem', fontWeight: 650, lineHeight: 1.35, overflowWrap: 'anywhere' },
        body: { overflowWrap: 'break-word' },
      },
    }),
    Notification: Notification.extend({
      defaultProps: { withBorder: true, closeButtonProps: { 'aria-label': texts.common.close } },
    }),
    Paper: Paper.extend({ defaultProps: { withBorder: true, radius: 'lg' } }),
    PasswordInput: PasswordInput.extend({
      defaultProps: {
        visibilityToggleButtonProps: { tabIndex: 0, 'aria-label': texts.common.showPassword },
      },
    }),
    // By name: importing these components would add them to the first load.
    Select: listThatScrolls,
    TagsInput: listThatScrolls,
    // Clicks must reach the input below the track.
    Switch: { styles: { track: { pointerEvents: 'none' } } },
    Table: Table.extend({
      defaultProps: {
        verticalSpacing: 'sm',
        horizontalSpacing: 'sm',
        highlightOnHoverColor: 'var(--km-page)',
      },
    }),
    Tooltip: Tooltip.extend({
      defaultProps: { withArrow: true, openDelay: 200, events: { hover: true, focus: true, touch: true } },
    }),
  },
});

export const theme = mergeMantineTheme(DEFAULT_THEME, overrides);
