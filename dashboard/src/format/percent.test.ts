import { expect, it } from 'vitest';
import { formatPercentChange } from './percent';

it.each([
  [100, 112, '+12%'],
  [200, 100, '-50%'],
  [100, 100, '0%'],
  [1, 1000, '+99,900%'],
])('the change from %d to %d is %s', (before, after, text) => {
  expect(formatPercentChange(before, after)).toBe(text);
});
