/** Money is exact: whole trillionths of a dollar, as the service reads them. */

import { expect, test } from 'vitest';
import { picoDollars, usdText } from '../src/amounts.ts';

test.each([
  ['0.02', '0.02'],
  ['20', '20'],
  [' 1.50 ', '1.5'],
  ['2.5e-7', '0.00000025'],
  ['+.5', '0.5'],
  ['5.', '5'],
  ['1E3', '1000'],
  ['0.000000000001', '0.000000000001'],
  [3, '3'],
  [3n, '3'],
  [0, '0'],
  [0.1, '0.1'],
  [0.1 + 0.2, '0.3'],
  [1e-9, '0.000000001'],
  [1e-20, '0'],
  [123456789.12345679, '123456789.12345679'],
  // Half to even, as the service does.
  ['0.0000000000005', '0'],
  ['0.00000000000050000001', '0.000000000001'],
  ['0.0000000000015', '0.000000000002'],
  ['0.0000000000025', '0.000000000002'],
  ['0.99999999999995', '1'],
  [`0.${'0'.repeat(200)}1`, '0'],
  ['0e9999', '0'],
  ['-0', '0'],
  [-0, '0'],
])('the amount %s is sent as the text %s', (usd, text) => {
  expect(usdText(picoDollars(usd))).toBe(text);
});

test.each([
  -1,
  -1n,
  '-0.01',
  '',
  ' ',
  '.',
  'e5',
  'one',
  '1,5',
  '0x10',
  '1 2',
  'nan',
  'Infinity',
  Number.NaN,
  Number.POSITIVE_INFINITY,
  '1e99',
  '1e99999',
  '9'.repeat(2000),
  true,
  null,
  undefined,
  [],
  ['1'],
  { usd: 1 },
])('%s is no amount', (usd) => {
  expect(() => picoDollars(usd as string)).toThrow(/^usd must be an amount/);
  expect(() => picoDollars(usd as string)).toThrow(RangeError);
});

test('random sums are those of whole trillionths', () => {
  let sum = 0n;
  let cents = 0;
  for (let turn = 0; turn < 1000; turn += 1) {
    const part = Math.floor(Math.random() * 1e6);
    cents += part;
    sum += picoDollars(part / 100);
  }
  expect(usdText(sum)).toBe(usdText(BigInt(cents) * 10n ** 10n));
});
