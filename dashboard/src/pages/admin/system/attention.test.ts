import { describe, expect, it } from 'vitest';
import type { System } from '../../../api/adminSystem';
import { makeServer, makeSystem, SYSTEM_TIME } from '../../../test/makeSystem';
import { attentionOf } from './attention';

const HOUR = 3600;
const DAY = 24 * HOUR;

const found = (changes: Partial<System>) => attentionOf(makeSystem(changes));
const keys = (changes: Partial<System>) => found(changes).map(({ key, tone }) => `${key} ${tone}`);
const database = (changes: Partial<System['database']>) => ({
  database: { ...makeSystem().database, ...changes },
});
const one = (changes: Partial<System>) => {
  const [first, ...others] = found(changes);
  expect(others).toEqual([]);
  return first;
};

describe('attention', () => {
  it('is needed by nothing in a system that is well', () => {
    expect(found({})).toEqual([]);
  });

  it.each<[string, Partial<System>]>([
    ['a violated invariant', { proof: { invariants: [{ name: 'L3', violations: 1 }] } }],
    ['commits that wait', { degraded: ['not_durable'] }],
    ['another degradation', { degraded: ['stopping'] }],
    ['a database that takes no writes', database({ is_writable: false })],
    ['a reservation that is overdue', database({ reservations_overdue_seconds: 121 })],
    ['an archiver that fails', database({ archiver_fails: true })],
    ['too few partitions', database({ partitions_ahead_days: 1 })],
    ['charges in the default partition', database({ default_partition_rows: 1 })],
    ['no backup', { backup: null }],
    ['an old backup', { backup: { time: SYSTEM_TIME - 2 * DAY - 1, source: 'keymeter_backup' } }],
  ])('is needed by %s', (_, changes) => {
    const row = one(changes);
    expect(row?.title).toBeTruthy();
    expect(row?.hint).toMatch(/\.$/);
  });

  it.each<[string, Partial<System>]>([
    ['a reservation that will expire', database({ reservations_overdue_seconds: 120 })],
    ['partitions for two days', database({ partitions_ahead_days: 2 })],
    ['a backup of two days', { backup: { time: SYSTEM_TIME - 2 * DAY, source: 'keymeter_backup' } }],
    ['an idle archiver', { backup: { time: SYSTEM_TIME - 30 * DAY, source: 'archiver' } }],
    [
      'a server of another version that has ended',
      { servers: [makeServer(), makeServer({ id: 'b2', version: '1.3.0', running: false })] },
    ],
  ])('is not needed by %s', (_, changes) => {
    expect(found(changes)).toEqual([]);
  });

  it('has what is urgent first', () => {
    const changes = { ...database({ partitions_ahead_days: 0, is_writable: false }), backup: null };
    expect(keys(changes)).toEqual(['read_only bad', 'backup warn', 'partitions warn']);
  });

  it('names the violations of each invariant', () => {
    const invariants = [
      { name: 'L3', violations: 2 },
      { name: 'L5', violations: 0 },
      { name: 'L10', violations: 1 },
    ];
    expect(one({ proof: { invariants } })?.values).toEqual([
      { key: 'L3', name: 'L3', value: '2 violations' },
      { key: 'L10', name: 'L10', value: '1 violation' },
    ]);
  });

  it('names the version of each server that runs', () => {
    const servers = [
      makeServer(),
      makeServer({ id: 'b2', name: 'keys-2', version: '1.3.0', newest_migration: 28 }),
    ];
    expect(one({ servers })?.values).toEqual([
      { key: 'a1', name: 'keys-1', value: '1.4.0, migration 29' },
      { key: 'b2', name: 'keys-2', value: '1.3.0, migration 28' },
    ]);
  });

  it('names the value of a setting on each server', () => {
    const servers = [
      makeServer(),
      makeServer({ id: 'b2' }),
      makeServer({ id: 'c3', name: 'keys-3' }),
      makeServer({ id: 'd4', name: 'keys-4' }),
    ];
    const differing_settings = [
      {
        name: 'limits.search_per_minute',
        values: [
          { server_id: 'a1', value: '60' },
          { server_id: 'b2', value: 'x, y' },
          { server_id: 'c3', value: '' },
          { server_id: 'd4', value: 'false' },
        ],
      },
      { name: 'newer.setting', values: [] },
    ];
    const [known, newer] = found({ servers, differing_settings });
    expect(known?.title).toContain('Searches of a user (limits.search_per_minute)');
    expect(known?.values?.map(({ name, value }) => [name, value])).toEqual([
      ['keys-1 (a1)', '60'],
      ['keys-1 (b2)', 'x, y'],
      ['keys-3', 'empty'],
      ['keys-4', 'false'],
    ]);
    expect(newer?.title).toMatch(/: newer\.setting$/);
  });

  it('is urgent if the log is the backup and no file was archived for an hour', () => {
    const fails = database({ archiver_fails: true });
    const archived = (age: number) => ({
      ...fails,
      backup: { time: SYSTEM_TIME - age, source: 'archiver' },
    });
    expect(keys(archived(HOUR))).toEqual(['archiver warn']);
    expect(keys(archived(HOUR + 1))).toEqual(['archiver bad']);
    expect(keys(fails)).toEqual(['archiver warn']);
  });

  it('is needed by jobs that have not succeeded for ten minutes, if the server has run for longer', () => {
    const jobs = [
      { name: 'add up usage', last_success_time: SYSTEM_TIME - 601 },
      { name: 'prove the ledger', last_success_time: null },
      { name: 'expire reservations', last_success_time: SYSTEM_TIME - 600 },
    ];
    const row = one({ jobs });
    expect(row?.title).toMatch(/^2 jobs have not succeeded for 10 minutes/);
    expect(row?.values?.map(({ name, value }) => [name, value])).toEqual([
      ['Add up usage', 'last 10 min ago'],
      ['Prove the ledger', 'not since the server started'],
    ]);
    expect(row?.hint).not.toContain('Another server');
    const two = [makeServer(), makeServer({ id: 'b2' })];
    expect(one({ jobs, servers: two })?.hint).toContain('Another server may have done it.');
    expect(found({ jobs, server: makeServer({ started_time: SYSTEM_TIME - 600 }) })).toEqual([]);
  });
});
