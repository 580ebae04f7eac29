import { expect, it } from 'vitest';
import { formatRate, formatRatio } from './rate';

it.each([
  ['0', '$0.00'],
  ['5', '$5.00'],
  ['0.125', '$0.125'],
  ['0.000000001', '$0.000000001'],
  // A number would lose its last digits.
  ['999999999.123456789', '$999,999,999.123456789'],
])('formats the rate %s', (text, formatted) => {
  expect(formatRate(text)).toBe(formatted);
});

it.each([
  [1, '× 1'],
  [0.85, '× 0.85'],
  [0.000000001, '× 0.000000001'],
])('formats the ratio %s', (ratio, formatted) => {
  expect(formatRatio(ratio)).toBe(formatted);
});
