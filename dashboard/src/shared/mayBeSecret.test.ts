import { describe, expect, it } from 'vitest';
import { mayBeKey, mayBeSecret } from './mayBeSecret';

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

describe('mayBeKey', () => {
  it.each(['sk-', 'SK-ab12', 'id=sk-ab12', 'Zk3'.repeat(16), `…${'Zk3'.repeat(12)}`])(
    'is true for %j',
    (text) => {
      expect(mayBeKey(text)).toBe(true);
    },
  );

  it.each([
    '',
    'chat-7',
    '7315092241980321477',
    'req_011CSHoEeqs5C35K2UUqR7Fy',
    'chatcmpl-9bZkp7q19f0Ab3dEfGhIjKlMnOpQr',
    'resp_68af4030592c81938ec0a5fbab4a3e9f05438e46b5f69a3b',
    '0190b5c2-7a1f-7c3e-9d52-3f0a8c1e4b6d',
  ])('is false for the request ID %j', (text) => {
    expect(mayBeKey(text)).toBe(false);
  });
});
