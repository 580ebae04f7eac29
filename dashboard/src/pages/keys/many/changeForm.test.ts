import { expect, it } from 'vitest';
import { texts } from '../../../texts';
import { emptyManyForm, type ManyAction, type ManyForm, manyErrors, setOf } from './changeForm';

const NOW = 1_800_000_000;
const limits = { day: '5', week: '', month: '' };
const removed = { day: false, week: false, month: true };

it.each<[ManyAction, Partial<ManyForm>, object]>([
  ['enable', {}, { status: 1 }],
  ['disable', {}, { status: 2 }],
  ['add_quota', { amount: '2.50' }, { add_quota: 1_250_000 }],
  ['change', { limits, removed }, { period_limits: { day: 2_500_000, month: -1 } }],
  [
    'change',
    { what: 'expiry', expired_time: { choice: 'week', at: undefined } },
    { expired_time: NOW + 604_800 },
  ],
  ['change', { what: 'expiry', expired_time: { choice: 'never', at: undefined } }, { expired_time: -1 }],
  ['change', { what: 'expiry', expired_time: { choice: 'at', at: NOW + 5 } }, { expired_time: NOW + 5 }],
  ['change', { what: 'group', group: '' }, { group: '' }],
  ['change', { what: 'group', group: 'vip', limits }, { group: 'vip' }],
])('%s sends only what it changes: %j', (action, fields, set) => {
  const form = { ...emptyManyForm, ...fields };
  expect(setOf(form, action, NOW)).toEqual(set);
  const errors = Object.values(manyErrors(form, action, true));
  expect(errors.filter((error) => error)).toEqual([]);
});

it.each<[ManyAction, Partial<ManyForm>, object]>([
  ['add_quota', {}, { amount: texts.common.usdErrors.empty }],
  ['change', {}, { 'limits.day': texts.limits.change.nothing }],
  ['change', { what: 'expiry' }, { expired_time: texts.keys.form.errors.noDateTime }],
  ['change', { what: 'group' }, { group: texts.adminBulk.noGroup }],
])('%s says what is missing when it is submitted: %j', (action, fields, errors) => {
  const form = { ...emptyManyForm, ...fields };
  expect(manyErrors(form, action, true)).toEqual(errors);
  expect(Object.values(manyErrors(form, action, false)).filter((error) => error)).toEqual([]);
});
