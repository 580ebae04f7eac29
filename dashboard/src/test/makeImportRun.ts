import type { ImportDetail, ImportNote, ImportRun } from '../api/adminImports';

const counts = (found: number, imported: number, left_out: number) => ({
  found,
  imported,
  present: 0,
  left_out,
});

/** A run of an import for tests, with defaults. */
export function makeImportRun({
  report,
  ...fields
}: Partial<Omit<ImportRun, 'report'>> & { report?: Partial<ImportRun['report']> } = {}): ImportRun {
  return {
    id: 1,
    name: 'new-api',
    at: 1_700_000_000,
    complete: true,
    ...fields,
    report: {
      source: '/data/one-api.db',
      service: 'new-api',
      accounts: counts(7, 7, 0),
      keys: counts(18, 14, 4),
      access_tokens: counts(2, 2, 0),
      usage: { accounts: 2, present: 0, quota: 151, requests: 5 },
      sums: {
        wallets: { source: 600_000_100_504_307, imported: 500_000_100_505_007 },
        wallets_used: { source: 70_100, imported: 70_100 },
        keys_remaining: { source: 599_999_999_996_280, imported: 500_000_000_001_580 },
        keys_used: { source: 5_730, imported: 5_730 },
      },
      findings: {
        key_taken: {
          meaning: 'keys were left out: they exist here or twice there',
          count: 1,
          rows: [{ user_id: 3, token_id: 25 }],
        },
        wallet_debt: {
          meaning: 'wallets were below zero and became 0',
          count: 1,
          amount: 700,
          rows: [{ user_id: 5, detail: { quota: 700 } }],
        },
        username_taken: {
          meaning: "usernames that another account has got the account's id as a suffix; tell these people",
          count: 1,
          rows: [{ user_id: 4, detail: { from: 'сосо', to: 'сосо-4' } }],
        },
      },
      not_moved: { channels: 2, passkeys: 0, 'two-factor secrets': 1 },
      notes: [],
      ...report,
    },
  };
}

/** Every kind of detail that the program writes, by the code of the finding. */
export const importDetails: Record<string, ImportDetail[]> = {
  username_changed: [{ from: 'Ana Lee', to: 'Ana_Lee' }],
  username_taken: [{ from: 'сосо', to: 'сосо-4' }],
  token_name_changed: [
    { from: '', to: 'token 25' },
    { from: 'a\u200b"b"', to: 'a"b"' },
  ],
  administrator_imported: [{ username: 'root-1', role: 100 }],
  administrator_lowered: [{ username: 'bob', role: 10 }],
  known_password: [{ text: 'root-1' }],
  password_too_costly: [{ text: 'cost 13' }],
  second_factor: [{ text: 'ana' }],
  role_unknown: [{ role: 7 }],
  user_status_unknown: [{ status: 9 }],
  switched_off: [{ status: 3 }],
  revived: [{ status: 4 }],
  expired_from_the_start: [{ expired_time: 0 }, { expired_time: -2 }],
  expiry_beyond_calendar: [{ expired_time: 1_767_225_600_000 }],
  key_invalid: [{ length: 12 }],
  models_dropped: [{ dropped: 1200, of: 1300 }],
  model_stars: [{ dropped: 1, of: 3 }],
  ips_dropped: [{ text: '10.0.0.300 nowhere' }],
  no_ip_left: [{ text: '10.0.0.300' }],
  root_replaced: [{ text: 'boss' }],
  email_dropped: [{ text: 'ana@' }],
  group_not_open: [{ text: 'vip' }],
  usage_model_cut: [{ text: 'a-model' }],
  usage_below_zero: [{ quota: 900, day: '2026-03-10' }],
  usage_orphaned: [{ day: '2026-03-10' }],
  restriction_lost: [{ name: 'users.daily_token_limit', rows: 3 }],
};

export const importNotes: ImportNote[] = [
  { code: 'no_logs', message: 'there is no table `logs`' },
  { code: 'logs_empty', message: 'the table `logs` has no row' },
  { code: 'still_growing', message: 'it still works', source_value: '700' },
  {
    code: 'quota_units_differ',
    message: '1 USD is something else there',
    source_value: '1000000',
    target_value: 500_000,
  },
];
