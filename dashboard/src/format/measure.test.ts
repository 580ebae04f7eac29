import { expect, it } from 'vitest';
import { formatBytes, formatMeasured, formatMicros, perSecond } from './measure';

it.each([
  [0, '0'],
  [1 / 15, '0.0667'],
  [12.345, '12.3'],
  [999.7, '1,000'],
  [1234.5, '1,235'],
])('formats the measured number %d', (value, formatted) => {
  expect(formatMeasured(value)).toBe(formatted);
});

it.each([
  [0, 10_000, 0],
  [3, 12_000, 0.25],
  [500, 1, 500_000],
  [0, 0, undefined],
  [7, 0, undefined],
])('%d events in %d ms', (count, milliseconds, expected) => {
  expect(perSecond(count, milliseconds)).toBe(expected);
});

it.each([
  [null, '–'],
  [undefined, '–'],
  [0, '0 µs'],
  [850, '850 µs'],
  [999, '999 µs'],
  [1000, '1 ms'],
  [1757, '1.76 ms'],
  [999_499, '999 ms'],
  [999_500, '1 s'],
  [2_500_000, '2.5 s'],
  [3_600_000_000, '3,600 s'],
])('formats %s microseconds', (micros, formatted) => {
  expect(formatMicros(micros)).toBe(formatted);
});

it.each([
  [0, '0 B'],
  [512, '512 B'],
  [24_576, '24 KiB'],
  [34_717_031, '33.1 MiB'],
  [5_000_000_000_000_000, '4,547 TiB'],
])('formats %d bytes', (bytes, formatted) => {
  expect(formatBytes(bytes)).toBe(formatted);
});
