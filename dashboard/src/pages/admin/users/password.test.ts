import { describe, expect, it } from 'vitest';
import { generatePassword, isTooShort } from './password';

describe('passwords', () => {
  it('are random, in readable groups', () => {
    const passwords = Array.from({ length: 200 }, generatePassword);
    for (const password of passwords) expect(password).toMatch(/^([a-km-np-z2-9]{5}-){4}[a-km-np-z2-9]{5}$/);
    expect(new Set(passwords).size).toBe(passwords.length);
    // All 32 characters occur.
    expect(new Set(passwords.join('').replaceAll('-', '')).size).toBe(32);
  });

  it('are measured in characters', () => {
    expect(isTooShort('1234567')).toBe(true);
    expect(isTooShort('12345678')).toBe(false);
    expect(isTooShort('🔑'.repeat(4))).toBe(true);
  });
});
