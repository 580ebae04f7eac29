import { expect, it } from 'vitest';
import type { ChangedUser, UserState } from '../../../../api/bulkUsers';
import type { BulkAction } from './bulkForm';
import { addedTo, isChanged, stateText } from './stateText';

const none = { day: -1, week: -1, month: -1 };
const state: UserState = { quota: 500_000, period_limits: none, group: 'default', status: 1 };

it.each<[BulkAction, Partial<UserState>, string]>([
  ['top_up', {}, '$1.00'],
  ['limits', {}, 'no limits'],
  ['limits', { period_limits: { day: 750_000, week: -1, month: 0 } }, '$1.50 a day, $0.00 a month'],
  ['group', {}, 'default'],
  ['enable', {}, 'Enabled'],
  ['disable', { status: 2 }, 'Disabled'],
])('%s shows %j', (action, fields, text) => {
  expect(stateText(action, { ...state, ...fields })).toBe(text);
});

it('tells who gets what, and who stays as before', () => {
  const user: ChangedUser = { id: 1, username: 'ana', before: state, after: state };
  const richer = { ...user, after: { ...state, quota: 750_000 } };
  expect([addedTo(user), isChanged(user)]).toEqual([0, false]);
  expect([addedTo(richer), isChanged(richer)]).toEqual([250_000, true]);
});
