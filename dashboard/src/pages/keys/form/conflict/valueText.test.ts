import { describe, expect, it } from 'vitest';
import type { TokenFieldName } from '../../../../api/tokenChanges';
import type { Token } from '../../../../api/tokens';
import { makeToken } from '../../../../test/makeToken';
import { valueText } from './valueText';

describe('valueText', () => {
  it.each<[TokenFieldName, Partial<Token>, string]>([
    ['name', {}, 'Production'],
    ['note', { note: '' }, 'None'],
    ['note', { note: 'one\ntwo' }, 'one\ntwo'],
    ['remain_quota', { remain_quota: 1_250_000 }, '$2.50 left'],
    ['unlimited_quota', { unlimited_quota: true }, 'On'],
    ['show_addresses', { show_addresses: false }, 'Off'],
    ['period_limits', {}, 'None'],
    ['period_limits', { period_limits: { day: 750_000, week: -1, month: 0 } }, '$1.50 a day\n$0.00 a month'],
    [
      'rate_limits',
      { rate_limits: { requests_per_minute: 1200, tokens_per_minute: -1, concurrency: 5 } },
      'Requests per minute: 1,200\nConcurrent requests: 5',
    ],
    ['expired_time', { expired_time: -1 }, 'Never'],
    ['group', { group: '' }, 'Your group'],
    ['model_limits', { model_limits: '' }, 'None'],
    ['model_limits', { model_limits: 'gpt-5,o3' }, 'gpt-5, o3'],
    ['allow_ips', { allow_ips: '' }, 'Any address'],
  ])('of %s in %o', (name, token, text) => {
    expect(valueText(name, makeToken(token))).toBe(text);
  });
});
