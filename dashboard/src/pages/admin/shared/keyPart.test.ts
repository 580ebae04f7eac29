import { describe, expect, it } from 'vitest';
import { isKeyPart } from './keyPart';

describe('isKeyPart', () => {
  it.each([
    '',
    ' ',
    'ab12',
    'sk-ab12',
    'sk-ab12**********wxyz',
    'ab12%wxyz',
    '%wxyz',
    '…wxyz',
    `sk-${'a'.repeat(48)}`,
  ])('accepts "%s"', (text) => {
    expect(isKeyPart(text)).toBe(true);
  });

  it.each(['ab1', 'sk-', 'sk-ab1', '%', '**', 'ab12%xyz', 'ab12*cd34*wxyz', 'Night job'])(
    'refuses "%s"',
    (text) => {
      expect(isKeyPart(text)).toBe(false);
    },
  );
});
