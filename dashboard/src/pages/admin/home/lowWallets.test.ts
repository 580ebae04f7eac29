import { describe, expect, it } from 'vitest';
import { makeUser } from '../../../test/makeUser';
import { lowWallets } from './lowWallets';

const DOLLAR = 500_000;

describe('low wallets', () => {
  it('last less than a week at the pace of 30 days', () => {
    const users = [makeUser({ id: 1, quota: 7 * DOLLAR }), makeUser({ id: 2, quota: 7 * DOLLAR - 1 })];
    const spend = [1, 2].map((user_id) => ({ user_id, quota: 30 * DOLLAR }));
    expect(lowWallets(users, spend)).toMatchObject([{ user: { id: 2 }, days: 6 }]);
  });

  it('are empty first, those who spent most before others, and then the soonest', () => {
    const users = [
      makeUser({ id: 1, quota: 0 }),
      makeUser({ id: 2, quota: 2 * DOLLAR }),
      makeUser({ id: 3, quota: DOLLAR }),
      makeUser({ id: 4, quota: -5 }),
    ];
    const spend = [2, 3, 4].map((user_id) => ({ user_id, quota: 30 * DOLLAR }));
    expect(lowWallets(users, spend).map(({ user, days }) => [user.id, days])).toEqual([
      [4, 0],
      [1, 0],
      [3, 1],
      [2, 2],
    ]);
  });

  it('are of people who can spend', () => {
    const users = [
      makeUser({ id: 1, quota: 0, token_api_enabled: false }),
      makeUser({ id: 2, quota: 0, role: 100 }),
      makeUser({ id: 3, quota: 0, role: 100 }),
      makeUser({ id: 4, quota: 1 }),
    ];
    expect(lowWallets(users, [{ user_id: 3, quota: 1 }]).map(({ user }) => user.id)).toEqual([3]);
  });
});
