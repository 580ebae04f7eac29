import { describe, expect, it } from 'vitest';
import { makeToken } from '../test/makeToken';
import { answered, asked, lockedBy } from './tokenSwitch';

const owner = { role: 1 as const };
const administrator = { role: 10 as const };
const root = { role: 100 as const };

describe('lockedBy', () => {
  it.each([
    ['administrator', owner, 'administrator'],
    ['administrator', administrator, undefined],
    ['administrator', root, undefined],
    ['root', owner, 'root'],
    ['root', administrator, 'root'],
    ['root', root, undefined],
    [undefined, owner, undefined],
    [undefined, administrator, undefined],
  ])('disabled by %s, seen by %o: %s', (disabled_by, user, expected) => {
    expect(lockedBy(user, makeToken({ status: 2, disabled_by }))).toBe(expected);
  });

  it('is undefined for enabled tokens', () => {
    expect(lockedBy(owner, makeToken({ status: 1, disabled_by: 'root' }))).toBeUndefined();
  });
});

describe('a token that is switched', () => {
  const token = makeToken({ status: 4, state: 'used_up' });

  it('has the status that was asked for, and no other state before the answer', () => {
    expect(asked(token, false)).toEqual({ ...token, status: 2, switching: true });
    expect(asked(token, true)).toEqual({ ...token, status: 1, switching: true });
  });

  it('waits for no answer after a refusal, even if it was switched again before', () => {
    expect(answered(asked(token, false))).toEqual({ ...token, status: 2 });
  });
});
