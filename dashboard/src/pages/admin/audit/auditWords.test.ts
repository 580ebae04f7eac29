import { describe, expect, it } from 'vitest';
import { actionName, actorName, factsOf, subjectName } from './auditWords';

const names = new Map([
  [1, 'root'],
  [7, 'ana'],
]);

describe('subjectName', () => {
  const line = { subject_kind: 'token', subject_id: 12, user_id: 7, actor_id: 1 };

  it.each([
    [line, 'Key 12 of ana'],
    [{ ...line, actor_id: 7 }, 'Key 12'],
    [{ ...line, user_id: 99 }, 'Key 12 of User 99'],
    [{ ...line, subject_kind: 'user', subject_id: 7 }, 'ana'],
    [{ ...line, subject_kind: 'gateway', subject_id: 2, user_id: null }, 'Gateway 2'],
    [{ ...line, subject_kind: 'user', subject_id: null, user_id: null }, 'An unknown name'],
    [{ ...line, subject_kind: 'robot', user_id: null }, 'robot 12'],
  ])('%o', (of, name) => {
    expect(subjectName(of, names)).toBe(name);
  });
});

describe('actorName', () => {
  it.each([
    ['ana', '10.0.0.1', 'ana'],
    ['', '10.0.0.1', 'Nobody signed in'],
    ['', '', 'Command line'],
  ])('"%s" from "%s"', (actor_name, ip, name) => {
    expect(actorName({ actor_name, ip })).toBe(name);
  });
});

describe('factsOf', () => {
  it('tells wallets exactly', () => {
    expect(factsOf({ from: '1', to: '6250001' })).toEqual([
      { label: 'Wallet', value: '$0.000002 → $12.500002' },
    ]);
  });

  it('tells what was changed in words', () => {
    expect(factsOf({ fields: 'status,max_tokens', status: '2', role: '10' })).toEqual([
      { label: 'Changed', value: 'status, key limit' },
      { label: 'Status', value: 'Disabled' },
      { label: 'Role', value: 'Administrator' },
    ]);
    expect(factsOf({ fields: 'remain_quota,group', remain_quota: '500000', group: '' })).toEqual([
      { label: 'Changed', value: 'quota left, group' },
      { label: 'Quota left', value: '$1.00' },
      { label: 'Group', value: 'the owner’s own' },
    ]);
  });

  it('tells which credential of a gateway', () => {
    expect(actionName('gateway.credential_revoked')).toBe('Revoked a credential of a gateway');
    expect(factsOf({ name: 'edge', credential: '7' })).toEqual([
      { label: 'Name', value: 'edge' },
      { label: 'Credential', value: '7' },
    ]);
  });

  it('leaves what it does not know as it is', () => {
    expect(actionName('token.sung')).toBe('token.sung');
    expect(factsOf({ colour: 'blue' })).toEqual([{ label: 'colour', value: 'blue' }]);
  });
});
