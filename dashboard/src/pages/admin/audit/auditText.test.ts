import { describe, expect, it } from 'vitest';
import { actionName, actorName, detailsOf, subjectName } from './auditText';

describe('subjectName', () => {
  const line = {
    subject_kind: 'token',
    subject_id: 12,
    subject_name: 'Website',
    user_id: 7,
    user_name: 'ana',
    actor_id: 1,
  };

  it.each([
    [line, 'Key “Website” (ana)'],
    [{ ...line, actor_id: 7 }, 'Key “Website”'],
    [{ ...line, subject_name: null }, 'Key 12 (ana)'],
    [{ ...line, user_id: 99, user_name: null }, 'Key “Website” (User 99)'],
    [{ ...line, subject_kind: 'user', subject_id: 7, subject_name: 'ana' }, 'ana'],
    [{ ...line, subject_kind: 'user', subject_id: 7, subject_name: null }, 'User 7'],
    [{ ...line, subject_kind: 'gateway', subject_id: 2, subject_name: null, user_id: null }, 'Gateway 2'],
    [{ ...line, subject_kind: 'user', subject_id: null, user_id: null }, 'Unknown username'],
    [{ ...line, subject_kind: 'robot', subject_name: null, user_id: null }, 'robot 12'],
  ])('%o', (of, name) => {
    expect(subjectName(of)).toBe(name);
  });
});

describe('actorName', () => {
  it.each([
    ['ana', '10.0.0.1', '4f1c', 'ana'],
    ['', '10.0.0.1', '4f1c', 'Not signed in'],
    ['', '', 'command', 'Command line'],
    ['', '', 'service', 'Keymeter'],
  ])('"%s" from "%s" in %s', (actor_name, ip, request_id, name) => {
    expect(actorName({ actor_name, ip, request_id })).toBe(name);
  });
});

describe('detailsOf', () => {
  it('shows wallet amounts in cents', () => {
    expect(detailsOf({ details: { from: '500000', to: '6250001' }, changes: [] })).toEqual([
      { label: 'Wallet', value: '$1.00 → $12.50' },
    ]);
  });

  it('does not show the name of the call that changed many wallets', () => {
    const details = { from: '0', to: '500000', batch: '4f1c', note: 'May' };
    expect(detailsOf({ details, changes: [] })).toEqual([
      { label: 'Wallet', value: '$0.00 → $1.00' },
      { label: 'Note', value: 'May' },
    ]);
  });

  it('shows changes as text', () => {
    expect(
      detailsOf({ details: { fields: 'status,max_tokens', status: '2', role: '10' }, changes: [] }),
    ).toEqual([
      { label: 'Changed', value: 'status, key limit' },
      { label: 'Status', value: 'Disabled' },
      { label: 'Role', value: 'Administrator' },
    ]);
    expect(
      detailsOf({
        details: { fields: 'remain_quota,group', remain_quota: '500000', group: '' },
        changes: [],
      }),
    ).toEqual([
      { label: 'Changed', value: 'quota left, group' },
      { label: 'Quota left', value: '$1.00' },
      { label: 'Group', value: 'the owner’s group' },
    ]);
  });

  it('shows what was moved out of the future', () => {
    const days = { from_day: '2027-01-02', to_day: '2026-11-23' };
    expect(detailsOf({ details: { ...days, quota: '500000', requests: '4' }, changes: [] })).toEqual([
      { label: 'From day', value: '2027-01-02' },
      { label: 'To day', value: '2026-11-23' },
      { label: 'Usage', value: '$1.00' },
      { label: 'Requests', value: '4' },
    ]);
  });

  it('shows the credential of a gateway', () => {
    expect(actionName('gateway.credential_revoked')).toBe('Revoked a gateway credential');
    expect(detailsOf({ details: { name: 'edge', credential: '7' }, changes: [] })).toEqual([
      { label: 'Name', value: 'edge' },
      { label: 'Credential', value: '7' },
    ]);
  });

  it.each([
    [
      { grace_seconds: '86400', grace_from: 'first_use' },
      'works for another 1 d after the new key is first used',
    ],
    [{ grace_seconds: '3600', grace_from: 'now' }, 'works for another 1 h'],
    [{ grace_seconds: '0', grace_from: 'now' }, 'ended at once'],
    [{ grace_seconds: '0', grace_from: 'first_use' }, 'works until the new key is first used'],
  ])('shows how long a replaced key works: %j', (details, value) => {
    expect(detailsOf({ details, changes: [] })).toEqual([{ label: 'Old key', value }]);
  });

  it('shows nothing of an edit that changed nothing', () => {
    expect(detailsOf({ details: { fields: '' }, changes: [] })).toEqual([]);
  });

  it('shows unknown values unchanged', () => {
    expect(actionName('token.unknown')).toBe('token.unknown');
    expect(detailsOf({ details: { colour: 'blue' }, changes: [] })).toEqual([
      { label: 'colour', value: 'blue' },
    ]);
  });
});

describe('the changes of an edit', () => {
  const change = { old: null, new: null, added: [], removed: [], left_out: 0 };
  const shown = (field: string, parts: object) =>
    detailsOf({ details: { fields: field }, changes: [{ ...change, field, ...parts }] });

  it.each([
    ['remain_quota', { old: '500000', new: '1000000' }, 'quota left', '$1.00 → $2.00'],
    ['period_limits.day', { new: '500000' }, 'daily limit', 'none → $1.00'],
    ['rate_limits.concurrency', { old: '3' }, 'requests at once', '3 → none'],
    ['expired_time', { old: '-1', new: '-1' }, 'expiry', 'never → never'],
    [
      'expired_time',
      { old: '9999999999999', new: '1e99' },
      'expiry',
      '9999999999999 (after the year 9999) → 1e99',
    ],
    ['note', { old: '', new: 'Ben’s' }, 'note', 'none → Ben’s'],
    ['group', { old: '', new: 'auto' }, 'group', 'the owner’s group → auto'],
    ['role', { old: '1', new: '10' }, 'role', 'User → Administrator'],
    ['unlimited_quota', { old: 'true', new: 'false' }, 'unlimited quota', 'on → off'],
    ['model_limits', { added: ['a', 'b'], removed: ['c'] }, 'models', 'added a, b; removed c'],
    ['allow_ips', { removed: ['10.0.0.1'], left_out: 2 }, 'allowed IP addresses', 'removed 10.0.0.1; 2 more'],
    ['password', {}, 'password', 'not shown'],
  ])('of %s %j are readable', (field, parts, label, value) => {
    expect(shown(field, parts)).toEqual([{ label, value }]);
  });
});
