import { describe, expect, it } from 'vitest';
import { makeToken } from '../../../test/makeToken';
import { changesOf, copyOf, draftOf, emptyDraft, fieldsOf } from './draft';
import { type Draft, hasAdvanced } from './fields';
import type { Quota } from './quota';

const NOW = 1_800_000_000;
const LEFT = 499_999;

const full = makeToken({
  note: 'Owner: data team\nRenew in spring',
  remain_quota: LEFT,
  expired_time: NOW + 61,
  period_limits: { day: 2_500_000, week: -1, month: 50_000_000 },
  rate_limits: { requests_per_minute: 60, tokens_per_minute: -1, concurrency: 5 },
  model_limits_enabled: true,
  model_limits: 'gpt-5,o3',
  allow_ips: '10.0.0.1\n::1',
  group: 'auto',
  cross_group_retry: true,
});

describe('changesOf', () => {
  const unlimited = makeToken({ unlimited_quota: true, remain_quota: 3 });
  const daily = { ...unlimited, period_limits: { day: 2_500_000, week: -1, month: -1 } };

  it.each([makeToken(), full, unlimited, daily])('is empty without changes', (token) => {
    expect(changesOf(draftOf(token), token, NOW)).toEqual({});
  });

  it('limits a key in total that only a period limited', () => {
    const draft = draftOf(daily);
    expect(draft.unlimited_quota).toBe(false);
    const total: Quota = { ...draft.remain_quota, usd: '5' };
    expect(changesOf({ ...draft, remain_quota: total }, daily, NOW)).toEqual({
      unlimited_quota: false,
      remain_quota: 2_500_000,
    });
  });

  it.each<[string, Partial<Draft>, object]>([
    ['a name, trimmed', { name: ' New ' }, { name: 'New' }],
    ['no change for a name with spaces', { name: ' Production ' }, {}],
    ['a note with lines, trimmed', { note: ' one\n two \n' }, { note: 'one\n two' }],
    ['an emptied note', { note: '  ' }, { note: '' }],
    ['more quota', { remain_quota: { mode: 'add', usd: '2.5', before: LEFT } }, { add_quota: 1_250_000 }],
    ['less quota', { remain_quota: { mode: 'take', usd: '0.5', before: LEFT } }, { add_quota: -250_000 }],
    ['no change for nothing to add', { remain_quota: { mode: 'add', usd: '0.00', before: LEFT } }, {}],
    ['the quota', { remain_quota: { mode: 'set', usd: '2.5', before: LEFT } }, { remain_quota: 1_250_000 }],
    [
      'no change for the same quota in another format',
      { remain_quota: { mode: 'set', usd: '$0.999998', before: LEFT } },
      {},
    ],
    [
      'only the changed limits',
      { period_limits: { day: '6', week: '', month: '$100.00' } },
      { period_limits: { day: 3_000_000 } },
    ],
    [
      'removed and new limits',
      {
        period_limits: { day: '', week: '0', month: '100' },
        rate_limits: { requests_per_minute: ' ', tokens_per_minute: '100,000', concurrency: '5' },
      },
      {
        period_limits: { day: -1, week: 0 },
        rate_limits: { requests_per_minute: -1, tokens_per_minute: 100_000 },
      },
    ],
    [
      'unlimited',
      { unlimited_quota: true, remain_quota: { mode: 'set', usd: 'nonsense', before: LEFT } },
      { unlimited_quota: true, period_limits: { day: -1, month: -1 } },
    ],
    [
      'no limit in total',
      { remain_quota: { mode: 'set', usd: ' ', before: LEFT } },
      { unlimited_quota: true },
    ],
    ['the expiry', { expired_time: { choice: 'never', at: undefined } }, { expired_time: -1 }],
    [
      'an expiry relative to now',
      { expired_time: { choice: 'day', at: undefined } },
      { expired_time: NOW + 86_400 },
    ],
    ['no models', { model_limits: [] }, { model_limits: '' }],
    ['models not limited', { model_limits_enabled: false }, { model_limits_enabled: false }],
    ['addresses', { allow_ips: '10.0.0.2, ::1\n\n' }, { allow_ips: '10.0.0.2\n::1' }],
    ['no change for the same addresses', { allow_ips: ' 10.0.0.1\n\n::1' }, {}],
    ['another group, without the retry', { group: 'vip' }, { group: 'vip', cross_group_retry: false }],
  ])('has %s', (_, touched, changes) => {
    expect(changesOf({ ...draftOf(full), ...touched }, full, NOW)).toEqual(changes);
  });
});

describe('fieldsOf', () => {
  it('has a quota only if it is limited in total', () => {
    const five: Quota = { mode: 'set', usd: '5', before: 0 };
    const limited = fieldsOf({ ...emptyDraft, remain_quota: five }, NOW);
    expect([limited.unlimited_quota, limited.remain_quota]).toEqual([false, 2_500_000]);
    const unlimited = fieldsOf({ ...emptyDraft, remain_quota: five, unlimited_quota: true }, NOW);
    expect([unlimited.unlimited_quota, unlimited.remain_quota]).toEqual([true, undefined]);
    const daily = fieldsOf({ ...emptyDraft, period_limits: { day: '5', week: '', month: '' } }, NOW);
    expect([daily.unlimited_quota, daily.remain_quota]).toEqual([true, undefined]);
    expect(daily.period_limits).toEqual({ day: 2_500_000, week: -1, month: -1 });
  });

  it('has no limits by default', () => {
    const fields = fieldsOf(emptyDraft, NOW);
    expect(fields.period_limits).toEqual({ day: -1, week: -1, month: -1 });
    expect(fields.rate_limits).toEqual({ requests_per_minute: -1, tokens_per_minute: -1, concurrency: -1 });
  });
});

describe('hasAdvanced', () => {
  it('knows whether an advanced field has a value', () => {
    expect(hasAdvanced(emptyDraft)).toBe(false);
    expect(hasAdvanced({ ...emptyDraft, name: 'Website', unlimited_quota: true })).toBe(false);
    expect(hasAdvanced({ ...emptyDraft, note: 'Owner: data team' })).toBe(true);
    expect(hasAdvanced(draftOf(full))).toBe(true);
  });
});

describe('copyOf', () => {
  it('has the settings of the other token, and the quota that it was created with', () => {
    const { name, remain_quota, ...rest } = copyOf(makeToken({ ...full, used_quota: 1 }), NOW);
    expect(name).toBe('Production copy');
    expect(remain_quota).toEqual({ mode: 'set', usd: '1', before: 0 });
    const { name: _, remain_quota: __, ...settings } = draftOf(full);
    expect(rest).toEqual(settings);
  });

  it('does not expire at a time that has passed', () => {
    expect(copyOf(makeToken({ expired_time: NOW }), NOW).expired_time).toEqual(emptyDraft.expired_time);
    expect(copyOf(makeToken({ expired_time: NOW + 1 }), NOW).expired_time.at).toBe(NOW + 1);
  });

  it('stays unlimited', () => {
    const draft = copyOf(makeToken({ unlimited_quota: true, used_quota: 5, remain_quota: 3 }), NOW);
    expect(draft).toMatchObject({ unlimited_quota: true, remain_quota: { usd: '' } });
  });

  it.each([
    ['n'.repeat(50), `${'n'.repeat(45)} copy`],
    [`${'n'.repeat(44)} and more`, `${'n'.repeat(44)} copy`],
    ['🔑'.repeat(50), `${'🔑'.repeat(45)} copy`],
  ])('shortens the name %s', (name, copied) => {
    expect(copyOf(makeToken({ name }), NOW).name).toBe(copied);
  });
});
