import { type WalletError, walletChange } from '../users/wallet';

export type TopUp = { units: number } | { error: WalletError };

/** The quota units to add for a typed amount. 0 if nothing is typed: the amount is optional. */
export function topUpOf(typed: string, wallet: number): TopUp {
  if (typed.trim() === '') return { units: 0 };
  const change = walletChange('add', wallet, typed);
  return 'error' in change ? change : { units: change.balance - wallet };
}
