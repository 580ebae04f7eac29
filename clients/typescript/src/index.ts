/**
 * A client of Keymeter: verify, reserve, settle and charge API keys with hard spending limits, and manage your own.
 *
 * @module
 */

export type { Usd } from './amounts.ts';
export type {
  Charged,
  Extended,
  OldKey,
  PeriodLimits,
  PeriodUsage,
  PeriodUse,
  RateLimits,
  Released,
  Reservation,
  Rotated,
  Settled,
  Token,
  Verification,
} from './answers.ts';
export { type Abortable, Keymeter, type KeymeterOptions } from './client.ts';
export {
  BadRequest,
  Conflict,
  type Failure,
  InvalidAccessToken,
  InvalidGateway,
  InvalidKey,
  KeymeterError,
  LimitExceeded,
  NotAllowed,
  NotFound,
  QuotaExhausted,
  RateLimited,
  Refused,
  TokenChanged,
  Unavailable,
} from './errors.ts';
export type {
  Amount,
  Charge,
  ChargeOptions,
  Counts,
  ExtendOptions,
  Priced,
  ProviderUsage,
  ReserveOptions,
  SettleOptions,
  Use,
  VerifyOptions,
} from './exchange.ts';
export type { Level, Log } from './log.ts';
export { type Refusal, refusalOf } from './openai.ts';
export type { Cost, Spend, SpendOptions } from './spend.ts';
export { KeymeterTokens, type KeymeterTokensOptions } from './token-client.ts';
export type {
  BulkChanges,
  Grace,
  Keyed,
  NewToken,
  TokenChanges,
  TokenFields,
  TokenFilters,
  Versioned,
} from './tokens.ts';
export type { Fetch } from './transport.ts';
export { VERSION } from './version.ts';
