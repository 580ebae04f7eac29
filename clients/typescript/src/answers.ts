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
  /** `day`, `week` or `month`, with the next three fields: the limit that refuses the key. */
  readonly period?: string;
  readonly limit?: number;
  readonly used?: number;
  readonly resetsAt?: number;
  /** Seconds; absent if time alone does not help. */
  readonly retryAfter?: number;
}

/** A charge that was made. */
export interface Charged {
  readonly charged: number;
  readonly remainQuota: number;
  readonly requestId: string;
  readonly tokenId: number;
  readonly userId: number;
  readonly name: string;
  readonly group: string;
}

/** A hold on quota. */
export interface Reservation {
  readonly reservationId: string;
  /** Unix timestamp at which the hold ends. */
  readonly expiresAt: number;
  readonly reserved: number;
  readonly remainQuota: number;
  readonly requestId: string;
  readonly tokenId: number;
  readonly userId: number;
  readonly name: string;
  readonly group: string;
}

/** A hold that was extended: what is held now, and until when. */
export interface Extended {
  readonly reservationId: string;
  readonly reserved: number;
  readonly expiresAt: number;
  readonly remainQuota: number;
}

/** A reservation that was settled. */
export interface Settled {
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

/** What an answer must have. */
const REQUIRED = Symbol('required');

/** Each field: required, or what stands for it if it is missing. */
export type Fields<T> = Readonly<Record<keyof T, typeof REQUIRED | string | number | undefined>>;

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
  period: undefined,
  limit: undefined,
  used: undefined,
  resetsAt: undefined,
  retryAfter: undefined,
};

export const CHARGED: Fields<Charged> = {
  charged: REQUIRED,
  remainQuota: REQUIRED,
  requestId: REQUIRED,
  tokenId: 0,
  userId: 0,
  name: '',
  group: '',
};

export const RESERVATION: Fields<Reservation> = {
  reservationId: REQUIRED,
  expiresAt: REQUIRED,
  reserved: REQUIRED,
  remainQuota: REQUIRED,
  requestId: '',
  tokenId: 0,
  userId: 0,
  name: '',
  group: '',
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
};

export const RELEASED: Fields<Released> = { remainQuota: REQUIRED };

/** The name of a field in JSON. */
export function wireName(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Throws a TypeError if `data` lacks a required field. */
export function read<T>(fields: Fields<T>, data: unknown): T {
  if (!isObject(data)) throw new TypeError('an object was expected');
  const known: Record<string, unknown> = {};
  for (const [name, otherwise] of Object.entries(fields)) {
    const value = data[wireName(name)] ?? otherwise;
    if (value === REQUIRED) throw new TypeError(`${wireName(name)} is missing`);
    if (value !== undefined) known[name] = value;
  }
  return Object.freeze(known) as T;
}
