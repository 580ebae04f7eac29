/**
 * A client of Keymeter for gateways: verify, reserve, settle and charge API keys with hard spending limits.
 *
 * @module
 */

export type { Usd } from './amounts.ts';
export type { Charged, Extended, Released, Reservation, Settled, Verification } from './answers.ts';
export { type Abortable, Keymeter, type KeymeterOptions } from './client.ts';
export {
  BadRequest,
  Conflict,
  type Failure,
  InvalidGateway,
  InvalidKey,
  KeymeterError,
  LimitExceeded,
  NotAllowed,
  QuotaExhausted,
  RateLimited,
  Refused,
  Unavailable,
} from './errors.ts';
export type {
  Amount,
  Charge,
  ChargeOptions,
  Counts,
  ExtendOptions,
  ReserveOptions,
  SettleOptions,
  Use,
  VerifyOptions,
} from './exchange.ts';
export type { Level, Log } from './log.ts';
export { type Refusal, refusalOf } from './openai.ts';
export type { Cost, Spend, SpendOptions } from './spend.ts';
export type { Fetch } from './transport.ts';
export { VERSION } from './version.ts';
