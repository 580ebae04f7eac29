import { formatInteger, locale } from './locale';

const threeDigits = new Intl.NumberFormat(locale, { maximumSignificantDigits: 3 });

/** Shown instead of a figure that there is none of. */
export const NONE = '–';

/** A measured number: "0.0667", "12.3", "1,235". */
export function formatMeasured(value: number): string {
  return value < 1000 ? threeDigits.format(value) : formatInteger(Math.round(value));
}

/** Events a second, of a count and the time that it is of. `undefined` without time. */
export function perSecond(count: number, milliseconds: number): number | undefined {
  return milliseconds > 0 ? (count * 1000) / milliseconds : undefined;
}

/** The unit in which a number is below 1000, and the number in it. */
function scaled(value: number, step: number, [unit = '', ...larger]: string[]): string {
  // Three digits of 999.5 are 1,000.
  return value < 999.5 || larger.length === 0
    ? `${formatMeasured(value)} ${unit}`
    : scaled(value / step, step, larger);
}

/** Microseconds as a text: "850 µs", "1.76 ms", "2.5 s". */
export function formatMicros(micros: number | null | undefined): string {
  return micros == null ? NONE : scaled(micros, 1000, ['µs', 'ms', 's']);
}

/** A size as a text: "33.1 MiB". */
export function formatBytes(bytes: number): string {
  return scaled(bytes, 1024, ['B', 'KiB', 'MiB', 'GiB', 'TiB']);
}
