import type { Grant } from '../../../api/adminUsers';
import { requestLimits } from '../../../api/serverLimits';
import { MAX_QUOTA } from '../../../format/money';
import { parseUsd, type UsdError } from '../../../format/typed';

export type WalletMode = 'add' | 'take' | 'set';
export type WalletError = UsdError | 'below_zero' | 'above_limit' | 'nothing';
export type WalletChange = { grant: Grant; balance: number } | { error: WalletError };

/** Characters of a note in the audit log. */
export const MAX_WALLET_NOTE = requestLimits.GrantBody.note.maxLength;

/** A note of one line, short enough for the audit log, or `undefined` if it is empty. */
export function walletNote(text: string): string | undefined {
  const characters = [...text.trim().replaceAll(/\s+/g, ' ')];
  if (characters.length <= MAX_WALLET_NOTE) return characters.join('') || undefined;
  return `${characters.slice(0, MAX_WALLET_NOTE - 1).join('')}…`;
}

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
