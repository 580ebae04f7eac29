import { describe, expect, it } from 'vitest';
import { makeToken } from '../test/makeToken';
import { lockedBy } from './tokenSwitch';

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
