import { describe, expect, it } from 'vitest';
import { MAX_WALLET_NOTE, walletChange, walletNote } from './wallet';

describe('walletChange', () => {
  it.each([
    ['add', 1, '12.50', { grant: { delta: 6_250_000 }, balance: 6_250_001 }],
    ['take', 6_250_001, '12.50', { grant: { delta: -6_250_000 }, balance: 1 }],
    ['take', 3, '0.000006', { grant: { delta: -3 }, balance: 0 }],
    ['set', 7, '0', { grant: { set: 0 }, balance: 0 }],
    ['set', 7, '1000000000', { grant: { set: 500_000_000_000_000 }, balance: 500_000_000_000_000 }],
    ['add', 499_999_999_999_999, '0.000002', { grant: { delta: 1 }, balance: 500_000_000_000_000 }],
  ] as const)('%s to %d units: %s', (mode, held, typed, change) => {
    expect(walletChange(mode, held, typed)).toEqual(change);
  });

  it.each([
    ['add', 0, '', 'empty'],
    ['add', 0, '0', 'nothing'],
    ['take', 0, '0.00', 'nothing'],
    ['add', 0, '1,5', 'not_an_amount'],
    ['set', 0, '0.000001', 'finer_than_a_unit'],
    ['take', 499_999, '1', 'below_zero'],
    ['add', 500_000_000_000_000, '0.000002', 'above_limit'],
    ['set', 0, '1000000000.000002', 'above_limit'],
  ] as const)('refuses %s to %d units: "%s"', (mode, held, typed, error) => {
    expect(walletChange(mode, held, typed)).toEqual({ error });
  });
});

describe('the note of a change', () => {
  it.each([
    ['', undefined],
    [' \n ', undefined],
    [' For May,\nas agreed ', 'For May, as agreed'],
    ['x'.repeat(100), 'x'.repeat(100)],
    ['x'.repeat(101), `${'x'.repeat(99)}…`],
  ])('%j is one line', (typed, note) => {
    expect(walletNote(typed)).toBe(note);
    expect([...(note ?? '')].length).toBeLessThanOrEqual(MAX_WALLET_NOTE);
  });
});
