import { formatUsdExact } from '../../../format/money';
import { texts } from '../../../texts';
import type { WalletError } from './wallet';

const { below_zero, ...errors } = { ...texts.common.usdErrors, ...texts.adminUsers.walletDialog.errors };

/** Why a wallet that holds `held` units cannot be changed as typed. */
export function walletErrorText(error: WalletError, held: number): string {
  return error === 'below_zero' ? below_zero(formatUsdExact(held)) : errors[error];
}
