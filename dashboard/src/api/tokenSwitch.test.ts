import { describe, expect, it } from 'vitest';
import { aToken } from '../test/aToken';
import { heldOffBy } from './tokenSwitch';

const owner = { role: 1 };
const administrator = { role: 10 };
const root = { role: 100 };

describe('heldOffBy', () => {
  it.each([
    ['administrator', owner, 'administrator'],
    ['administrator', administrator, undefined],
    ['administrator', root, undefined],
    ['root', owner, 'root'],
    ['root', administrator, 'root'],
    ['root', root, undefined],
    [undefined, owner, undefined],
    [undefined, administrator, undefined],
  ])('switched off by %s, seen by %o: %s', (disabled_by, user, expected) => {
    expect(heldOffBy(user, aToken({ status: 2, disabled_by }))).toBe(expected);
  });

  it('holds off no key that is switched on', () => {
    expect(heldOffBy(owner, aToken({ status: 1, disabled_by: 'root' }))).toBeUndefined();
  });
});
