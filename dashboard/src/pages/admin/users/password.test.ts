import { describe, expect, it } from 'vitest';
import { generatePassword, isTooShort } from './password';

describe('passwords', () => {
  it('are generated in readable groups, each time another', () => {
    const passwords = Array.from({ length: 200 }, generatePassword);
    for (const password of passwords) expect(password).toMatch(/^([a-km-np-z2-9]{5}-){4}[a-km-np-z2-9]{5}$/);
    expect(new Set(passwords).size).toBe(passwords.length);
    // Every letter turns up: none of the 32 is missing by a slip.
    expect(new Set(passwords.join('').replaceAll('-', '')).size).toBe(32);
  });

  it('are counted in characters', () => {
    expect(isTooShort('1234567')).toBe(true);
    expect(isTooShort('12345678')).toBe(false);
    expect(isTooShort('🔑'.repeat(4))).toBe(true);
  });
});
