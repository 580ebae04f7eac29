import { expect, it } from 'vitest';
import { formatCount, formatRate, formatRatio } from './rate';

it.each([
  ['0', '$0.00'],
  ['5', '$5.00'],
  ['0.125', '$0.125'],
  ['0.000000001', '$0.000000001'],
  ['0.000000000000000001', '$0.000000000000000001'],
  // A number would lose its last digits.
  ['999999999.123456789', '$999,999,999.123456789'],
])('formats the rate %s', (text, formatted) => {
  expect(formatRate(text)).toBe(formatted);
});

it.each([
  [1, '× 1'],
  [0.85, '× 0.85'],
  [0.000000001, '× 0.000000001'],
  ['0.85', '× 0.85'],
])('formats the ratio %s', (ratio, formatted) => {
  expect(formatRatio(ratio)).toBe(formatted);
});

it.each([
  ['1200', '1,200'],
  ['90.5', '90.5'],
  ['999999999999999999', '999,999,999,999,999,999'],
])('formats the count %s', (text, formatted) => {
  expect(formatCount(text)).toBe(formatted);
});
