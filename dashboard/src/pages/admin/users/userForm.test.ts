import { describe, expect, it } from 'vitest';
import type { User } from '../../../api/session';
import { makePeriodUsage } from '../../../test/makeToken';
import { emptyUserForm, newUserOf, readLimit, userFormOf, userPatchOf } from './userForm';

const ana: User = {
  period_limits: { day: -1, week: -1, month: -1 },
  period_usage: makePeriodUsage(),
  id: 7,
  username: 'ana',
  display_name: 'Ana',
  email: '',
  role: 1,
  status: 1,
  group: 'default',
  quota: 0,
  used_quota: 0,
  request_count: 0,
  token_api_enabled: false,
  max_tokens: 50,
  created_time: 1,
};

describe('readLimit', () => {
  it.each([
    ['', -1],
    [' 0 ', 0],
    ['1000000', 1_000_000],
    ['1,000', 1000],
    ['1,00', undefined],
    ['-1', undefined],
    ['1.5', undefined],
    ['many', undefined],
  ])('reads "%s"', (typed, limit) => {
    expect(readLimit(typed)).toBe(limit);
  });
});

describe('userPatchOf', () => {
  const form = userFormOf(ana);

  it('is empty without changes', () => {
    expect(userPatchOf(form, ana)).toEqual({});
  });

  it('contains only changed fields', () => {
    expect(userPatchOf({ ...form, email: 'ana@example.org', max_tokens: '' }, ana)).toEqual({
      email: 'ana@example.org',
      max_tokens: -1,
    });
  });

  it('contains only changed limits, and -1 for removed ones', () => {
    const limited = { ...ana, period_limits: { day: 2_500_000, week: -1, month: 50_000_000 } };
    const period_limits = { day: '', week: '', month: '100.00' };
    expect(userPatchOf({ ...userFormOf(limited), period_limits }, limited)).toEqual({
      period_limits: { day: -1 },
    });
  });

  it('clears cleared fields', () => {
    expect(userPatchOf({ ...form, display_name: '' }, ana)).toEqual({ display_name: '' });
  });

  it('leaves out API access for administrators', () => {
    expect(userPatchOf({ ...form, role: 10, token_api_enabled: true }, ana)).toEqual({ role: 10 });
  });

  it('sets API access when an account stops being an administrator', () => {
    const administrator = { ...ana, role: 10 as const, token_api_enabled: true };
    expect(userPatchOf({ ...userFormOf(administrator), role: 1 }, administrator)).toEqual({
      role: 1,
      token_api_enabled: true,
    });
  });
});

describe('newUserOf', () => {
  it('leaves out empty fields', () => {
    expect(JSON.parse(JSON.stringify(newUserOf(emptyUserForm, 'ana', 'secret-123')))).toEqual({
      username: 'ana',
      password: 'secret-123',
      role: 1,
      token_api_enabled: true,
      max_tokens: -1,
    });
  });

  it('contains only the limits that the account gets', () => {
    const period_limits = { day: '', week: '10', month: ' ' };
    expect(newUserOf({ ...emptyUserForm, period_limits }, 'ana', 'secret-123').period_limits).toEqual({
      week: 5_000_000,
    });
  });
});
