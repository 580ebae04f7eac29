import { describe, expect, it } from 'vitest';
import { assignableRoles, mayChangeKeys, mayEnable, mayLockOut, mayManage } from './permissions';

const user = { id: 1, role: 1 as const };
const administrator = { id: 2, role: 10 as const };
const other = { id: 3, role: 10 as const };
const root = { id: 4, role: 100 as const };

describe('permissions', () => {
  it.each([
    [user, user, false],
    [administrator, user, true],
    [administrator, administrator, false],
    [administrator, other, false],
    [administrator, root, false],
    [root, user, true],
    [root, other, true],
    [root, root, true],
  ])('%o may manage %o: %s', (actor, subject, may) => {
    expect(mayManage(actor, subject)).toBe(may);
  });

  it('prevents users from locking themselves out', () => {
    expect(mayLockOut(root, root)).toBe(false);
    expect(mayLockOut(root, { id: 5, role: 100 as const })).toBe(true);
    expect(mayLockOut(administrator, user)).toBe(true);
    expect(mayLockOut(administrator, other)).toBe(false);
  });

  it('lets administrators change the keys of users, and root those of all others, with API access', () => {
    const has = { token_api_enabled: true };
    expect(mayChangeKeys(administrator, { ...user, ...has })).toBe(true);
    expect(mayChangeKeys(administrator, { ...user, token_api_enabled: false })).toBe(false);
    expect(mayChangeKeys(administrator, { ...other, ...has })).toBe(false);
    expect(mayChangeKeys(root, { ...other, ...has })).toBe(true);
    expect(mayChangeKeys(root, { ...root, ...has })).toBe(false);
  });

  it('lets only root enable what root disabled', () => {
    expect(mayEnable(administrator, { disabled_by: 'administrator' })).toBe(true);
    expect(mayEnable(administrator, { disabled_by: 'root' })).toBe(false);
    expect(mayEnable(root, { disabled_by: 'root' })).toBe(true);
  });

  it('lets administrators assign lower roles, and root all roles', () => {
    expect(assignableRoles(administrator)).toEqual([1]);
    expect(assignableRoles(root)).toEqual([1, 10, 100]);
  });
});
