import { locale } from './locale';

const change = new Intl.NumberFormat(locale, { style: 'percent', signDisplay: 'exceptZero' });

/** For example "+12%": how much more `after` is than `before`, which is above 0. */
export function formatPercentChange(before: number, after: number): string {
  return change.format((after - before) / before);
}
