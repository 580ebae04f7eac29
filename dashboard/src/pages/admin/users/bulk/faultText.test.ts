import { describe, expect, it } from 'vitest';
import type { Fault } from '../../../../api/error';
import { faultText } from './faultText';

const fault = (fields: Partial<Fault>): Fault => ({ error: 'not_found', message: 'no', ...fields });

describe('faultText', () => {
  it.each<[Partial<Fault>, string]>([
    [{ username: 'ana' }, 'ana: There is no such user.'],
    [{ line: 3, username: 'ana' }, 'line 3, ana: There is no such user.'],
    [{ id: 7 }, 'User 7: There is no such user.'],
    [{ id: 7, username: 'ana', error: 'role_too_low' }, 'ana: Only root can change this user.'],
    [
      { line: 2, error: 'invalid_users', message: 'write the line as `user,usd`' },
      'line 2: Write the line as “user,usd”.',
    ],
    [
      { username: 'ana', error: 'user_changed', message: 'root changed this user since' },
      'ana: root changed this user since.',
    ],
    [{ username: 'ana', error: 'timeout', message: 'something new' }, 'ana: Something new.'],
  ])('of %j', (fields, text) => {
    expect(faultText(fault(fields))).toBe(text);
  });
});
