import { expect, it } from 'vitest';
import { textOf } from './textOf';

it('has no text for codes that are not known, also if objects have such a member', () => {
  const known = { rate_limited: 'Too many requests.' };
  expect(textOf(known, 'rate_limited')).toBe('Too many requests.');
  expect(textOf(known, 'from_a_newer_server')).toBeUndefined();
  expect(textOf(known, 'constructor')).toBeUndefined();
});
