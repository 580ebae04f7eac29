import { describe, expect, it } from 'vitest';
import { ApiError } from '../api/error';
import { texts } from '../texts';
import { failureText } from './failure';

describe('failureText', () => {
  it('is the text for the code', () => {
    expect(failureText(new ApiError(409, 'username_taken', 'a sentence'))).toBe(texts.errors.username_taken);
  });

  it('adds the message of the API where it names details', () => {
    expect(failureText(new ApiError(400, 'invalid_expiry', 'the time is `a` or `b`'))).toBe(
      `${texts.errors.invalid_expiry} The time is “a” or “b”.`,
    );
  });

  it('says which of many is the reason', () => {
    const failure = new ApiError(409, 'token_expired', 'a sentence', undefined, 7);
    const text = failureText(failure.aboutOneOf([{ id: 7, name: 'Website' }]));
    expect(text).toBe(`Nothing was changed, because of “Website”: ${texts.errors.token_expired}`);
  });

  it.each([
    [new ApiError(409, 'from_a_newer_server', 'try `a` instead'), 'Try “a” instead.'],
    [new ApiError(400, 'toString', 'no text'), 'No text.'],
    [new Error('copying failed'), 'Copying failed.'],
  ])('is the message without a text: %s', (error, text) => {
    expect(failureText(error)).toBe(text);
  });
});
