import { describe, expect, it } from 'vitest';
import { makeToken } from '../../test/makeToken';
import { explain } from './attention';

const NOW = 1_800_000_000;
const DAY = 86_400;

describe('explain', () => {
  it.each([
    ['expires_soon', { expired_time: NOW + 3 * DAY }, 'warn', 'Stops working in 3 days.'],
    ['nearly_spent', { used_quota: 4_700_000, remain_quota: 300_000 }, 'warn', 'Only $0.60 of $10.00 left.'],
    ['exhausted', { used_quota: 50_000, remain_quota: 0 }, 'bad', 'Its quota of $0.10 is used up.'],
    ['expired', { expired_time: NOW - DAY }, 'warn', 'Stopped working yesterday.'],
    ['exceeds_wallet', { remain_quota: 300_000 }, 'warn', 'Has $0.60 left, but your wallet has less.'],
    ['from_a_newer_server', {}, 'info', 'This key needs attention.'],
  ])('explains %s', (reason, fields, tone, sentence) => {
    expect(explain({ reason, token: makeToken(fields) }, NOW)).toMatchObject({ tone, sentence });
  });
});
