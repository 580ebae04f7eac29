import { describe, expect, it } from 'vitest';
import { makeUser } from '../../../test/makeUser';
import { lowWallets } from './lowWallets';

const DOLLAR = 500_000;

const report = (rows: { user_id: number; quota: number }[]) => ({
  from: '2026-02-09',
  to: '2026-03-10',
  rows,
});

describe('low wallets', () => {
  it('last less than the days of the server at the pace of the report', () => {
    const users = [makeUser({ id: 1, quota: 7 * DOLLAR }), makeUser({ id: 2, quota: 7 * DOLLAR - 1 })];
    const spend = [1, 2].map((user_id) => ({ user_id, quota: 30 * DOLLAR }));
    expect(lowWallets(users, report(spend), 7)).toMatchObject([{ user: { id: 2 }, days: 6, perDay: DOLLAR }]);
    expect(lowWallets(users, report(spend), 8)).toHaveLength(2);
    expect(lowWallets(users, { ...report(spend), from: '2026-03-10' }, 7)).toMatchObject([
      { days: 0 },
      { days: 0 },
    ]);
  });

  it('are empty first, those who spent most before others, and then the soonest', () => {
    const users = [
      makeUser({ id: 1, quota: 0 }),
      makeUser({ id: 2, quota: 2 * DOLLAR }),
      makeUser({ id: 3, quota: DOLLAR }),
      makeUser({ id: 4, quota: -5 }),
    ];
    const spend = [2, 3, 4].map((user_id) => ({ user_id, quota: 30 * DOLLAR }));
    expect(lowWallets(users, report(spend), 7).map(({ user, days }) => [user.id, days])).toEqual([
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
    expect(lowWallets(users, report([{ user_id: 3, quota: 1 }]), 7).map(({ user }) => user.id)).toEqual([3]);
  });
});
