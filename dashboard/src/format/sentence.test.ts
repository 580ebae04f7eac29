import { describe, expect, it } from 'vitest';
import { sentence } from './sentence';

describe('sentence', () => {
  it.each([
    ['this username is taken', 'This username is taken.'],
    ['`email` is not an e-mail address', '“email” is not an e-mail address.'],
    ['The server cannot be reached.', 'The server cannot be reached.'],
  ])('%j becomes %j', (message, expected) => {
    expect(sentence(message)).toBe(expected);
  });
});
