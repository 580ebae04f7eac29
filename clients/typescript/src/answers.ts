/** What Keymeter answers. Unknown fields are ignored. Amounts are quota units: 500,000 are one dollar. */

/** Whether a key may be used now. If it is known, all fields of the key are there. Amounts are advice. */
export interface Verification {
  readonly valid: boolean;
  /** The error code, if `valid` is false. */
  readonly reason?: string;
  readonly tokenId?: number;
  readonly userId?: number;
  readonly name?: string;
  readonly group?: string;
  readonly crossGroupRetry?: boolean;
  readonly unlimitedQuota?: boolean;
  readonly remainQuota?: number;
  /** The least of what key, wallet and period limits have left. */
  readonly usableQuota?: number;
  /** Unix timestamp; 0 means never. */
  readonly expiresAt?: number;
  /** Of a key that was replaced: Unix timestamp at which it stops working, at the latest. */
  readonly keyExpiresAt?: number;
  /** `day`, `week` or `month`, with the next three fields: the limit that refuses the key. */
  readonly period?: string;
  readonly limit?: number;
  readonly used?: number;
  readonly resetsAt?: number;
  /** Seconds; absent if time alone does not help. */
  readonly retryAfter?: number;
}

/** The token that is charged, and whose it is. */
export interface Owner {
  readonly tokenId: number;
  readonly userId: number;
  readonly name: string;
  readonly group: string;
}

/** What decided the amount of a charge. */
interface PricedBy {
  /** `units`: the counts; `told`: the amount that was sent; `hold`: the hold, because no other amount was known. */
  readonly pricedBy: string;
  /** Why it was the hold, such as `invalid_usage`. */
  readonly holdReason?: string;
}

/** A charge that was made. */
export interface Charged extends Owner, PricedBy {
  readonly charged: number;
  readonly remainQuota: number;
  readonly requestId: string;
}

/** A hold on quota. */
export interface Reservation extends Owner {
  readonly reservationId: string;
  /** Unix timestamp at which the hold ends. */
  readonly expiresAt: number;
  readonly reserved: number;
  readonly remainQuota: number;
  readonly requestId: string;
}

/** A hold that was extended: what is held now, and until when. */
export interface Extended {
  readonly reservationId: string;
  readonly reserved: number;
  readonly expiresAt: number;
  readonly remainQuota: number;
}

/** A reservation that was settled. */
export interface Settled extends PricedBy {
  readonly charged: number;
  /** The part of the cost that neither the hold nor the balances could cover. */
  readonly shortfall: number;
  /** The reservation had expired before, so the charge was made without a hold. */
  readonly expired: boolean;
  readonly remainQuota: number;
}

/** A reservation that was released. */
export interface Released {
  readonly remainQuota: number;
}

/** Quota units that may be used in each; -1 is no limit. */
export interface PeriodLimits {
  readonly day: number;
  readonly week: number;
  readonly month: number;
}

/** -1 is no limit. */
export interface RateLimits {
  readonly requestsPerMinute: number;
  readonly tokensPerMinute: number;
  /** Open reservations. */
  readonly concurrency: number;
}

/** The present day, week or month, in quota units; -1 without a limit. */
export interface PeriodUse {
  readonly limit: number;
  readonly used: number;
  readonly remaining: number;
  /** Unix timestamp. */
  readonly resetsAt: number;
}

export interface PeriodUsage {
  readonly day: PeriodUse;
  readonly week: PeriodUse;
  readonly month: PeriodUse;
}

/** The record of a key. */
export interface Token {
  readonly id: number;
  readonly userId: number;
  /** Empty unless the token was just created. It is not in JSON, an inspected object or a copy. */
  readonly key: string;
  /** The part of the key that may be shown. */
  readonly maskedKey: string;
  /** The version of the token, for `ifMatch`. Empty in lists and of many tokens. */
  readonly etag: string;
  /** 1 enabled, 2 disabled, 3 expired, 4 quota exhausted. */
  readonly status: number;
  /** `working`, or why the key does not work now. Treat an unknown one as one that does not work. */
  readonly state: string;
  /** When the limit that is reached renews. */
  readonly stateUntil?: number;
  /** `administrator` or `root`, if one of them disabled it. */
  readonly disabledBy?: string;
  /** True for a key that an import brought from another service. */
  readonly imported?: boolean;
  readonly name: string;
  readonly note: string;
  /** Unix timestamp, as all times. */
  readonly createdTime: number;
  /** Of the last charge; the creation time until then. */
  readonly accessedTime: number;
  /** -1 means never. */
  readonly expiredTime: number;
  readonly remainQuota: number;
  readonly unlimitedQuota: boolean;
  readonly usedQuota: number;
  readonly periodLimits: PeriodLimits;
  readonly periodUsage: PeriodUsage;
  readonly rateLimits: RateLimits;
  /** Whether `modelLimits` applies. */
  readonly modelLimitsEnabled: boolean;
  /** Names, comma-separated. */
  readonly modelLimits: string;
  /** One address or network per line; empty allows all. */
  readonly allowIps: string;
  /** Empty: the group of the owner. */
  readonly group: string;
  readonly crossGroupRetry: boolean;
  readonly showAddresses: boolean;
  /** Only of deleted tokens. */
  readonly deletedTime?: number;
  /** Only of deleted tokens. */
  readonly restorableUntil?: number;
}

/** A key that was replaced. The key itself is not stored. */
export interface OldKey {
  readonly id: number;
  readonly maskedKey: string;
  readonly rotatedAt: number;
  /** Unix timestamp; absent until a newer key is used, for 30 days at most. */
  readonly expiresAt?: number;
  /** Up to about a minute old; absent if it was not used since the rotation. */
  readonly lastUsedAt?: number;
}

/** The new key of a token. */
export interface Rotated {
  /** Of the token. */
  readonly id: number;
  /** It is not in JSON, an inspected object or a copy. */
  readonly key: string;
  readonly maskedKey: string;
  /** Those that still work, the last rotation first. */
  readonly oldKeys: readonly OldKey[];
}

/** What an answer must have. */
const REQUIRED = Symbol('required');

/** The field that is not shown. */
const SECRET = 'key';

type Reader = (data: unknown) => unknown;

/** Each field: required, or what stands for it if it is missing, or how it is read. */
export type Fields<T> = Readonly<Record<keyof T, typeof REQUIRED | string | number | undefined | Reader>>;

export const VERIFICATION: Fields<Verification> = {
  valid: REQUIRED,
  reason: undefined,
  tokenId: undefined,
  userId: undefined,
  name: undefined,
  group: undefined,
  crossGroupRetry: undefined,
  unlimitedQuota: undefined,
  remainQuota: undefined,
  usableQuota: undefined,
  expiresAt: undefined,
  keyExpiresAt: undefined,
  period: undefined,
  limit: undefined,
  used: undefined,
  resetsAt: undefined,
  retryAfter: undefined,
};

const OWNER: Fields<Owner> = {
  tokenId: 0,
  userId: 0,
  name: '',
  group: '',
};

const PRICED_BY: Fields<PricedBy> = { pricedBy: '', holdReason: undefined };

export const CHARGED: Fields<Charged> = {
  charged: REQUIRED,
  remainQuota: REQUIRED,
  requestId: REQUIRED,
  ...OWNER,
  ...PRICED_BY,
};

export const RESERVATION: Fields<Reservation> = {
  reservationId: REQUIRED,
  expiresAt: REQUIRED,
  reserved: REQUIRED,
  remainQuota: REQUIRED,
  requestId: '',
  ...OWNER,
};

export const EXTENDED: Fields<Extended> = {
  reservationId: REQUIRED,
  reserved: REQUIRED,
  expiresAt: REQUIRED,
  remainQuota: REQUIRED,
};

export const SETTLED: Fields<Settled> = {
  charged: REQUIRED,
  shortfall: REQUIRED,
  expired: REQUIRED,
  remainQuota: REQUIRED,
  ...PRICED_BY,
};

export const RELEASED: Fields<Released> = { remainQuota: REQUIRED };

export const PERIOD_LIMITS: Fields<PeriodLimits> = { day: REQUIRED, week: REQUIRED, month: REQUIRED };

export const RATE_LIMITS: Fields<RateLimits> = {
  requestsPerMinute: REQUIRED,
  tokensPerMinute: REQUIRED,
  concurrency: REQUIRED,
};

export const PERIOD_USE: Fields<PeriodUse> = {
  limit: REQUIRED,
  used: REQUIRED,
  remaining: REQUIRED,
  resetsAt: REQUIRED,
};

const periodUse = (data: unknown) => read(PERIOD_USE, data);

export const PERIOD_USAGE: Fields<PeriodUsage> = { day: periodUse, week: periodUse, month: periodUse };

export const TOKEN: Fields<Token> = {
  id: REQUIRED,
  userId: REQUIRED,
  key: '',
  maskedKey: REQUIRED,
  etag: '',
  status: REQUIRED,
  state: REQUIRED,
  stateUntil: undefined,
  disabledBy: undefined,
  imported: undefined,
  name: REQUIRED,
  note: REQUIRED,
  createdTime: REQUIRED,
  accessedTime: REQUIRED,
  expiredTime: REQUIRED,
  remainQuota: REQUIRED,
  unlimitedQuota: REQUIRED,
  usedQuota: REQUIRED,
  periodLimits: (data) => read(PERIOD_LIMITS, data),
  periodUsage: (data) => read(PERIOD_USAGE, data),
  rateLimits: (data) => read(RATE_LIMITS, data),
  modelLimitsEnabled: REQUIRED,
  modelLimits: REQUIRED,
  allowIps: REQUIRED,
  group: REQUIRED,
  crossGroupRetry: REQUIRED,
  showAddresses: REQUIRED,
  deletedTime: undefined,
  restorableUntil: undefined,
};

export const OLD_KEY: Fields<OldKey> = {
  id: REQUIRED,
  maskedKey: REQUIRED,
  rotatedAt: REQUIRED,
  expiresAt: undefined,
  lastUsedAt: undefined,
};

export const ROTATED: Fields<Rotated> = {
  id: REQUIRED,
  key: REQUIRED,
  maskedKey: REQUIRED,
  oldKeys: (data) => readList(OLD_KEY, data),
};

/** The name of a field in JSON. */
export function wireName(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Throws a TypeError if it is none. */
export function objectOf(value: unknown): JsonObject {
  if (!isObject(value)) throw new TypeError('an object was expected');
  return value;
}

/** Throws a TypeError if `data` lacks a required field. */
export function read<T>(fields: Fields<T>, data: unknown): T {
  const given = objectOf(data);
  const known: Record<string, unknown> = {};
  for (const [name, otherwise] of Object.entries(fields)) {
    const found = given[wireName(name)];
    const value = typeof otherwise === 'function' ? otherwise(found) : (found ?? otherwise);
    if (value === REQUIRED) throw new TypeError(`${wireName(name)} is missing`);
    if (value === undefined) continue;
    // What shows or copies an object does not call getters that are not enumerable.
    if (name === SECRET) Object.defineProperty(known, name, { get: () => value });
    else known[name] = value;
  }
  return Object.freeze(known) as T;
}

/** Throws a TypeError if `data` is no list, or if one of it lacks a required field. */
export function readList<T>(fields: Fields<T>, data: unknown): readonly T[] {
  if (!Array.isArray(data)) throw new TypeError('a list was expected');
  return data.map((each: unknown) => read(fields, each));
}
