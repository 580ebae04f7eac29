import type { Grant } from '../../../api/adminUsers';
import { MAX_QUOTA, parseUsd, type UsdError } from '../../../format/money';

export type WalletMode = 'add' | 'take' | 'set';
export type WalletError = UsdError | 'below_zero' | 'above_limit' | 'nothing';
export type WalletChange = { grant: Grant; balance: number } | { error: WalletError };

/** The request for a typed change of a wallet, and the resulting balance. */
export function walletChange(mode: WalletMode, held: number, typed: string): WalletChange {
  const amount = parseUsd(typed);
  if ('error' in amount) return amount;
  const { units } = amount;
  if (mode !== 'set' && units === 0) return { error: 'nothing' };
  const delta = mode === 'take' ? -units : units;
  const balance = mode === 'set' ? units : held + delta;
  if (balance < 0) return { error: 'below_zero' };
  if (balance > MAX_QUOTA) return { error: 'above_limit' };
  return { grant: mode === 'set' ? { set: units } : { delta }, balance };
}
