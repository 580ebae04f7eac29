import { describe, expect, it } from 'vitest';
import { MAX_QUOTA } from '../../../format/money';
import { topUpOf } from './topUp';

describe('the amount of an approval', () => {
  it.each([
    ['', 0, { units: 0 }],
    ['  ', 0, { units: 0 }],
    ['10', 250_000, { units: 5_000_000 }],
    ['$0.000002', 0, { units: 1 }],
    ['0', 0, { error: 'nothing' }],
    ['-1', 0, { error: 'not_an_amount' }],
    ['ten', 0, { error: 'not_an_amount' }],
    ['1', MAX_QUOTA, { error: 'above_limit' }],
  ])('%j in a wallet of %d: %j', (typed, wallet, topUp) => {
    expect(topUpOf(typed, wallet)).toEqual(topUp);
  });
});
