/** What can go wrong. Every error that Keymeter causes is a KeymeterError. */

import { isObject } from './answers.ts';

/** Keymeter did not do what was asked. */
export class KeymeterError extends Error {
  override name = 'KeymeterError';
}

/** What is known of an answer that was no success. */
export interface Failure {
  readonly status?: number;
  readonly code?: string;
  readonly retryAfter?: number;
  readonly requestId?: string;
  /** The place of the token that is the reason, from 0, if many were to be created. */
  readonly index?: number;
  /** The ID of the token that is the reason, if many were to be changed. */
  readonly tokenId?: number;
  /** The present version of the token. */
  readonly etag?: string;
}

/** No answer, or one that says that Keymeter cannot answer now. Never treat it as permission. */
export class Unavailable extends KeymeterError {
  override name = 'Unavailable';
  readonly status?: number;
  readonly code?: string;
  /** Seconds. */
  readonly retryAfter?: number;
  /** The `X-Request-Id` of the answer, if there was one. */
  readonly requestId?: string;
  /** Whether the same request may be answered in a moment. */
  readonly repeatable: boolean;
  /** False if the request certainly did not reach Keymeter: it was not carried out. */
  readonly sent: boolean;

  constructor(message: string, failure: Failure = {}, repeatable = true, sent = true) {
    super(message);
    this.status = failure.status;
    this.code = failure.code;
    this.retryAfter = failure.retryAfter;
    this.requestId = failure.requestId;
    this.repeatable = repeatable;
    this.sent = sent;
  }

  override toString(): string {
    return this.code === undefined ? this.message : `${this.code}: ${this.message}`;
  }
}

/** Keymeter said no. `message` is one sentence. */
export class Refused extends KeymeterError {
  override name = 'Refused';
  /** The HTTP status. */
  readonly status: number;
  /** The stable error code. */
  readonly code: string;
  /** Seconds; absent if time alone does not help. */
  readonly retryAfter?: number;
  /** The `X-Request-Id` of the answer: quote it to your operator. */
  readonly requestId?: string;
  /** The place of the token that is the reason, from 0, if many were to be created. */
  readonly index?: number;
  /** The ID of the token that is the reason, if many were to be changed. */
  readonly tokenId?: number;

  constructor(status: number, code: string, message: string, failure: Failure = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.retryAfter = failure.retryAfter;
    this.requestId = failure.requestId;
    this.index = failure.index;
    this.tokenId = failure.tokenId;
  }

  override toString(): string {
    return `${this.code}: ${this.message}`;
  }
}

/** The key is unknown, mistyped or deleted. */
export class InvalidKey extends Refused {
  override name = 'InvalidKey';
}

/** The key or the wallet of its owner has too little left. */
export class QuotaExhausted extends Refused {
  override name = 'QuotaExhausted';
}

/** The key is disabled or expired, or may not be used for this model, from this address or in this group; or the model has no price. */
export class NotAllowed extends Refused {
  override name = 'NotAllowed';
}

/** A limit of a day, week or month. */
export class LimitExceeded extends Refused {
  override name = 'LimitExceeded';
  /** `day`, `week` or `month`. */
  readonly period?: string;
  /** Quota units. */
  readonly limit?: number;
  /** Quota units. */
  readonly used?: number;
  /** Unix timestamp. */
  readonly resetsAt?: number;

  constructor(status: number, code: string, message: string, failure: Failure = {}, figures: unknown = {}) {
    super(status, code, message, failure);
    if (!isObject(figures)) return;
    this.period = typeof figures.period === 'string' ? figures.period : undefined;
    this.limit = integer(figures.limit);
    this.used = integer(figures.used);
    this.resetsAt = integer(figures.resets_at);
  }
}

/** Too many requests or tokens per minute, or too many open reservations. */
export class RateLimited extends Refused {
  override name = 'RateLimited';
}

/** The reservation has ended or is unknown, an ID was used for something else, or the token does not allow it now. */
export class Conflict extends Refused {
  override name = 'Conflict';
}

/** A mistake in the calling program; the message names the field. */
export class BadRequest extends Refused {
  override name = 'BadRequest';
}

/** The gateway credential is wrong or revoked. */
export class InvalidGateway extends Refused {
  override name = 'InvalidGateway';
}

/** The access token is wrong, expired or revoked. */
export class InvalidAccessToken extends Refused {
  override name = 'InvalidAccessToken';
}

/** There is no such token or old key of yours. */
export class NotFound extends Refused {
  override name = 'NotFound';
}

/** The token was changed since it was read; nothing was done. */
export class TokenChanged extends Refused {
  override name = 'TokenChanged';
  /** Its present version. */
  readonly etag: string;

  constructor(status: number, code: string, message: string, failure: Failure = {}) {
    super(status, code, message, failure);
    this.etag = failure.etag ?? '';
  }
}

type Kind = typeof Refused | typeof LimitExceeded | typeof Unavailable;

export type Codes = ReadonlyMap<string, readonly [status: number, kind: Kind]>;

/** The error codes of both kinds of calls, where they mean the same. */
const COMMON_CODES: readonly (readonly [code: string, readonly [status: number, kind: Kind]])[] = [
  ['user_disabled', [403, NotAllowed]],
  ['invalid_json', [400, BadRequest]],
  ['invalid_body', [400, BadRequest]],
  ['invalid_field', [400, BadRequest]],
  ['missing_field', [400, BadRequest]],
  ['invalid_quota', [400, BadRequest]],
  ['body_too_large', [413, BadRequest]],
  ['unsupported_encoding', [415, BadRequest]],
  ['rate_limited', [429, RateLimited]],
  ['internal', [500, Unavailable]],
  ['database_read_only', [503, Unavailable]],
  ['database_unavailable', [503, Unavailable]],
  ['program_too_old', [503, Unavailable]],
  ['not_durable', [503, Unavailable]],
  ['too_many_connections', [503, Unavailable]],
  ['server_busy', [503, Unavailable]],
  ['timeout', [503, Unavailable]],
];

/** Every error code that a call of a gateway can answer, with its status. A test compares it with the OpenAPI document. */
export const CODES: Codes = new Map<string, readonly [number, Kind]>([
  ...COMMON_CODES,
  ['invalid_key', [401, InvalidKey]],
  ['invalid_gateway', [401, InvalidGateway]],
  ['token_exhausted', [402, QuotaExhausted]],
  ['token_quota_insufficient', [402, QuotaExhausted]],
  ['user_quota_insufficient', [402, QuotaExhausted]],
  ['token_disabled', [403, NotAllowed]],
  ['token_expired', [403, NotAllowed]],
  ['group_not_allowed', [403, NotAllowed]],
  ['model_not_allowed', [403, NotAllowed]],
  ['model_not_priced', [403, NotAllowed]],
  ['ip_not_allowed', [403, NotAllowed]],
  ['token_period_exceeded', [429, LimitExceeded]],
  ['user_period_exceeded', [429, LimitExceeded]],
  ['too_many_concurrent', [429, RateLimited]],
  ['reservation_not_found', [404, Conflict]],
  ['reservation_ended', [409, Conflict]],
  ['request_id_reused', [409, Conflict]],
  ['invalid_usd', [400, BadRequest]],
  ['ambiguous_amount', [400, BadRequest]],
  ['invalid_ttl', [400, BadRequest]],
  ['invalid_on_expiry', [400, BadRequest]],
  ['invalid_request_id', [400, BadRequest]],
  ['invalid_model', [400, BadRequest]],
  ['invalid_ip', [400, BadRequest]],
  ['invalid_count', [400, BadRequest]],
  ['invalid_usage', [400, BadRequest]],
  ['invalid_context', [400, BadRequest]],
  ['invalid_charges', [400, BadRequest]],
  ['ledger_busy', [503, Unavailable]],
]);

/** Every error code that a call for one's own tokens can answer. The same code may have another status than for a gateway. */
export const TOKEN_CODES: Codes = new Map<string, readonly [number, Kind]>([
  ...COMMON_CODES,
  ['not_signed_in', [401, InvalidAccessToken]],
  ['invalid_credential', [401, InvalidAccessToken]],
  ['user_mismatch', [401, InvalidAccessToken]],
  ['token_api_not_enabled', [403, NotAllowed]],
  ['cross_site_request', [403, NotAllowed]],
  ['switched_off_by_administrator', [403, NotAllowed]],
  ['switched_off_by_root', [403, NotAllowed]],
  ['not_found', [404, NotFound]],
  ['token_expired', [409, Conflict]],
  ['token_exhausted', [409, Conflict]],
  ['token_limit_reached', [409, Conflict]],
  ['insufficient_quota', [409, Conflict]],
  ['too_many_old_keys', [409, Conflict]],
  ['key_rotated', [409, Conflict]],
  ['token_changed', [412, TokenChanged]],
  ['idempotency_key_reused', [422, Conflict]],
  ['invalid_query', [400, BadRequest]],
  ['invalid_page', [400, BadRequest]],
  ['invalid_filter', [400, BadRequest]],
  ['invalid_id', [400, BadRequest]],
  ['invalid_ids', [400, BadRequest]],
  ['invalid_tokens', [400, BadRequest]],
  ['invalid_name', [400, BadRequest]],
  ['invalid_note', [400, BadRequest]],
  ['invalid_expiry', [400, BadRequest]],
  ['invalid_period_limit', [400, BadRequest]],
  ['invalid_rate_limit', [400, BadRequest]],
  ['invalid_models', [400, BadRequest]],
  ['invalid_ips', [400, BadRequest]],
  ['invalid_group', [400, BadRequest]],
  ['invalid_status', [400, BadRequest]],
  ['invalid_grace', [400, BadRequest]],
  ['invalid_if_match', [400, BadRequest]],
  ['invalid_idempotency_key', [400, BadRequest]],
]);

/** For codes of a newer service. */
const BY_STATUS: ReadonlyMap<number, Kind> = new Map<number, Kind>([
  [400, BadRequest],
  [402, QuotaExhausted],
  [403, NotAllowed],
  [409, Conflict],
  [413, BadRequest],
  [429, RateLimited],
]);

/**
 * The error that a failure stands for. `status` is missing for one of many charges; its code says it.
 *
 * @param body the failure, in JSON
 */
export function errorOf(
  body: Readonly<Record<string, unknown>>,
  answer: Failure = {},
  codes = CODES,
): KeymeterError {
  const code = String(body.error);
  const message = String(body.message);
  const [knownStatus, kind] = codes.get(code) ?? [0, BY_STATUS.get(answer.status ?? 0) ?? Refused];
  const status = answer.status ?? knownStatus;
  const failure: Failure = { ...answer, status, code, index: integer(body.index), tokenId: integer(body.id) };
  if (status >= 500 || kind === Unavailable) return new Unavailable(message, failure);
  const Kind = kind as typeof LimitExceeded;
  return new Kind(status, code, message, failure, body);
}

export function integer(value: unknown): number | undefined {
  return Number.isInteger(value) ? (value as number) : undefined;
}
