import { describe, expect, it } from 'vitest';
import type { Remedy } from '../../../api/outlook';
import { keyOfRow, offerOf, remedyText } from './remedies';

const remedy = (action: string, fields: Partial<Remedy> = {}): Remedy => ({
  action,
  field: null,
  value: null,
  by: 'owner',
  allowed: true,
  ...fields,
});

describe('offerOf', () => {
  it.each([
    ['enable_key', {}, 'Enable', 'key switch'],
    ['extend_key', {}, 'Extend', 'key form'],
    ['change_group', {}, 'Change the group', 'key form'],
    ['allow_model', { value: 'o3' }, 'Allow o3', 'key form'],
    ['allow_address', { value: '192.0.2.7' }, 'Allow 192.0.2.7', 'key form'],
    ['add_quota', {}, 'Add quota', 'key form'],
    ['raise_limit', { field: 'period_limits.week' }, 'Raise the weekly limit', 'key form'],
    ['raise_limit', { field: 'rate_limits.concurrency' }, 'Raise the limit', 'key form'],
    ['add_price', { value: 'o3' }, 'Add a price', 'prices'],
    ['enable_account', {}, 'Enable the account', 'account switch'],
    ['top_up_account', {}, 'Top up', 'wallet'],
    ['raise_account_limit', { field: 'period_limits.day' }, 'Raise the daily limit', 'account form'],
  ])('of %s %j is the button %s', (action, fields, label, opens) => {
    expect(offerOf(remedy(action, fields))).toEqual({ label, opens });
  });

  it.each([
    ['enable_key', 'root', 'Root can enable it.'],
    ['enable_key', 'administrator', 'An administrator can enable it.'],
    ['add_price', 'administrator', 'An administrator can add a price for this model.'],
    ['enable_account', 'root', 'Root can enable the account.'],
    ['top_up_account', 'administrator', 'An administrator can top up the wallet.'],
    ['raise_account_limit', 'administrator', 'An administrator can raise the limit of the account.'],
  ])('of %s is who can do it, if only they may: %s', (action, by, sentence) => {
    expect(offerOf(remedy(action, { by, allowed: false }))).toEqual({ sentence });
  });

  it('is nothing if only the owner may', () => {
    expect(offerOf(remedy('add_quota', { allowed: false }))).toBeUndefined();
    expect(offerOf(remedy('enable_key', { allowed: false }))).toBeUndefined();
  });

  it.each(['from_a_newer_server', 'toString'])('of %s is nothing', (action) => {
    expect(offerOf(remedy(action))).toBeUndefined();
  });
});

describe('remedyText', () => {
  it.each([
    ['raise_limit', { field: 'period_limits.day' }, 'Raise the daily limit. The owner of the key can do it.'],
    ['enable_key', { by: 'root', allowed: false }, 'Enable. Root can do it.'],
    ['allow_model', { value: 'o3', by: 'from_a_newer_server' }, 'Allow o3'],
    ['from_a_newer_server', {}, undefined],
  ])('of %s %j is %s', (action, fields, text) => {
    expect(remedyText(remedy(action, fields))).toBe(text);
  });
});

describe('keyOfRow', () => {
  it('has the key and its owner', () => {
    const row = { token_id: 7, token_name: 'Crawler', user_id: 3, username: 'ada' };
    expect(keyOfRow(row)).toEqual({ id: 7, name: 'Crawler', owner: { id: 3, name: 'ada' } });
  });

  it('has none if no key of this service was sent', () => {
    expect(keyOfRow({ token_id: null, user_id: null })).toBeUndefined();
  });
});
