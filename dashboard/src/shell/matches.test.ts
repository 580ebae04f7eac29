import { expect, it } from 'vitest';
import { matches } from './matches';

it.each([
  ['/', '/', true],
  ['/keys', '/keys', true],
  ['/keys/:id', '/keys/7', true],
  ['/keys/:id', '/keys', false],
  ['/keys', '/keys/7', false],
  ['/', '/keys', false],
])('%s %s', (route, path, expected) => {
  expect(matches(route, path)).toBe(expected);
});
