import type { Grant } from '../../../api/adminUsers';
import { parseUsd, type UsdError } from '../../../format/money';

export type WalletMode = 'add' | 'take' | 'set';
export type WalletError = UsdError | 'below_zero' | 'above_limit' | 'nothing';
export type WalletChange = { grant: Grant; balance: number } | { error: WalletError };

/** The most units that the server lets a wallet hold. */
const LIMIT = 500_000_000_000_000;

/** What to send so that a wallet changes as typed, and what it will hold then. */
export function walletChange(mode: WalletMode, held: number, typed: string): WalletChange {
  const amount = parseUsd(typed);
  if ('error' in amount) return amount;
  const { units } = amount;
  if (mode !== 'set' && units === 0) return { error: 'nothing' };
  const delta = mode === 'take' ? -units : units;
  const balance = mode === 'set' ? units : held + delta;
  if (balance < 0) return { error: 'below_zero' };
  if (balance > LIMIT) return { error: 'above_limit' };
  return { grant: mode === 'set' ? { set: units } : { delta }, balance };
}
