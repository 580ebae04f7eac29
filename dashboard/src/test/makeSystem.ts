import type { ServerOfSystem, System } from '../api/adminSystem';

export const SYSTEM_TIME = 1_800_000_000;
const DAY = 86_400;

export function makeServer(changes: Partial<ServerOfSystem> = {}): ServerOfSystem {
  return {
    id: 'a1',
    name: 'keys-1',
    version: '1.4.0',
    newest_migration: 29,
    started_time: SYSTEM_TIME - DAY,
    seen_time: SYSTEM_TIME - 4,
    running: true,
    ...changes,
  };
}

/** A system in which nothing needs attention. */
export function makeSystem(changes: Partial<System> = {}): System {
  const server = makeServer();
  return {
    time: SYSTEM_TIME,
    server,
    servers: [server],
    recent: {
      milliseconds: 12_000,
      requests: 600,
      failures: 0,
      request: { p50_us: 850, p99_us: 4200 },
      operations: { charge: 240, reserve: 120, settle: 120 },
      refused: 12,
      failed: 0,
      quota: 6_000_000,
      operation: { p50_us: 1200, p99_us: 5100 },
      batches: 60,
      batched_operations: 480,
      steps: [
        { step: 'lock', mean_us: 400 },
        { step: 'write', mean_us: 900 },
        { step: 'commit', mean_us: 150 },
        { step: 'flush', mean_us: 2100 },
      ],
      slowest_step: 'flush',
      queue: 0,
      in_flight: 1,
    },
    jobs: [
      { name: 'make partitions of charges', last_success_time: SYSTEM_TIME - 30 },
      { name: 'expire reservations', last_success_time: SYSTEM_TIME - 5 },
    ],
    differing_settings: [],
    database: {
      version: '17.2',
      is_writable: true,
      bytes: 34_717_031,
      idempotency_records_bytes: 24_576,
      reservations_open: 3,
      reservations_overdue_seconds: 0,
      partitions_ahead_days: 7,
      default_partition_rows: 0,
      synchronous_standbys: 1,
      other_standbys: 0,
      archiver_failures: 0,
      archiver_fails: false,
    },
    degraded: [],
    proof: {
      ended_time: SYSTEM_TIME - 3600,
      invariants: ['L3', 'L5', 'L9', 'L10'].map((name) => ({ name, violations: 0 })),
    },
    backup: { time: SYSTEM_TIME - DAY, source: 'keymeter_backup' },
    ...changes,
  };
}
