import { describe, expect, it } from 'vitest';
import { mayBeSecret } from './mayBeSecret';

describe('mayBeSecret', () => {
  it.each([
    'sk-',
    ' sk-ab12',
    'SK-ab12',
    'sk-ab12**********wxyz',
    'key: sk-ab12',
    'Zk3'.repeat(16),
    'a1b2c3d4e5f6g7h8',
    '…a1b2c3d4e5f6g7h8',
  ])('is true for %j', (text) => {
    expect(mayBeSecret(text)).toBe(true);
  });

  it.each([
    '',
    'production',
    'task-force',
    'Nightly evaluation 2026',
    'internationalization',
    '1234567890123456',
    '100%beta',
  ])('is false for %j', (text) => {
    expect(mayBeSecret(text)).toBe(false);
  });
});
