/** What to send, how to read an answer, and when to repeat. */

import { PICO_PER_QUOTA, picoDollars, type Usd, usdText } from './amounts.ts';
import {
  CHARGED,
  type Charged,
  EXTENDED,
  type Extended,
  type Fields,
  isObject,
  type JsonObject,
  objectOf,
  RELEASED,
  RESERVATION,
  type Released,
  type Reservation,
  read,
  SETTLED,
  type Settled,
  VERIFICATION,
  type Verification,
  wireName,
} from './answers.ts';
import { CODES, type Codes, errorOf, integer, KeymeterError, Refused, Unavailable } from './errors.ts';
import { plain } from './provider-usage.ts';
import type { Received, Request, Transport } from './transport.ts';

const TRIES = 3;
const TRY_SECONDS = 2;
const TOTAL_SECONDS = 10;
const FIRST_PAUSE_SECONDS = 0.1;

/** Tokens of a model. Keymeter computes a cost of them if there is no amount, by its price for the model. */
export interface Counts {
  readonly promptTokens?: number;
  readonly completionTokens?: number;
  /** Of the prompt tokens, those that were read from the provider's cache. */
  readonly cachedTokens?: number;
  /** Of the prompt tokens, those that were written to the provider's cache. */
  readonly cacheWriteTokens?: number;
}

/** What Keymeter computes a cost of if there is no amount, by its price for the model. */
export interface Priced extends Counts {
  /** Counts by unit, such as `{ input_tokens: 368, web_searches: 2 }`, instead of or beside those above. */
  readonly units?: Readonly<Record<string, number>>;
  /** What the price depends on besides the model, such as `{ service_tier: 'priority' }`. */
  readonly context?: Readonly<Record<string, string>>;
  /** Whose price of the model counts, and whose `usage` it is. */
  readonly provider?: string;
}

/** What a provider says that was used. */
export interface ProviderUsage {
  /** Its whole answer or the `usage` of it, as its SDK or its API returns it. */
  readonly usage?: object;
  /** Of which of its APIs that is, such as `chat`, `responses` or `embeddings`. Found by default. */
  readonly flavor?: string;
}

export const COUNTS = ['promptTokens', 'completionTokens', 'cachedTokens', 'cacheWriteTokens'] as const;
/** Of these there is one for a settlement. */
export const ONCE = ['units', 'context', 'provider', 'usage', 'flavor'] as const;
const AMOUNT = ['usd', 'quota', ...COUNTS, 'units', 'context', 'provider'] as const;
const USE = [...AMOUNT, 'model', 'ip'] as const;

/** One of `usd`, `quota`, or counts with a model. */
export interface Amount extends Priced {
  readonly usd?: Usd;
  /** Quota units: 500,000 are one dollar. */
  readonly quota?: number;
}

/** What a key is used for. What is left out is not checked. */
export interface Use extends Amount {
  readonly model?: string;
  /** The address of your client. */
  readonly ip?: string;
}

export type VerifyOptions = Use;

/** Without an amount and counts, `usage` says what was used. */
export interface ChargeOptions extends Use, ProviderUsage {
  /** Your ID of this charge. Without it, it gets one, so that its retries charge once. */
  readonly requestId?: string;
}

/** One of the charges of `charges`. */
export interface Charge extends ChargeOptions {
  readonly key: string;
}

export interface ReserveOptions extends Use {
  /** Default 600. */
  readonly ttlSeconds?: number;
  /** What becomes of the hold if it is not settled until then. Default: `release`. */
  readonly onExpiry?: 'release' | 'charge';
  /** Your ID of this reservation. */
  readonly requestId?: string;
}

export interface ExtendOptions {
  /** The whole hold afterwards. */
  readonly usd?: Usd;
  readonly quota?: number;
  /** Counts from now. */
  readonly ttlSeconds?: number;
}

/** Without an amount and counts, `usage` says what was used. What cannot be read costs the whole hold: see `pricedBy`. */
export interface SettleOptions extends Amount, ProviderUsage {
  /** The model that answered, if it is not the one that was reserved for. */
  readonly model?: string;
}

/** A request, and how its answer is read. */
export interface Call<T> extends Request {
  readonly read: (data: unknown, headers: Headers) => T;
  /** Default: those of the calls of gateways. */
  readonly codes?: Codes;
  /** What it means that this was refused after a try without an answer, which may have been carried out. Default: the refusal. */
  readonly afterSilence?: (error: Refused) => { readonly result: T } | undefined;
}

/** How often and how long a call is still tried. */
export class Tries {
  #left: number;
  readonly #trySeconds: number;
  readonly #deadline: number;
  #pause = FIRST_PAUSE_SECONDS;

  constructor(count = TRIES, trySeconds = TRY_SECONDS, totalSeconds = TOTAL_SECONDS) {
    this.#left = count - 1;
    this.#trySeconds = trySeconds;
    this.#deadline = performance.now() + totalSeconds * 1000;
  }

  /** For the next try. */
  seconds(): number {
    return Math.min(this.#trySeconds, (this.#deadline - performance.now()) / 1000);
  }

  /** Seconds to wait before the next try after this error; undefined if it was the last. */
  pause(error: Unavailable): number | undefined {
    if (this.#left === 0 || !error.repeatable) return undefined;
    const seconds = Math.max(this.#pause * (0.5 + Math.random() / 2), error.retryAfter ?? 0);
    if (performance.now() + seconds * 1000 >= this.#deadline) return undefined;
    this.#left -= 1;
    this.#pause *= 2;
    return seconds;
  }
}

/** Throws Unavailable or Refused, or the reason of `signal`. */
export async function ask<T>(
  transport: Transport,
  call: Call<T>,
  tries: Tries,
  signal?: AbortSignal,
): Promise<T> {
  let sent = false;
  for (;;) {
    const received = await transport.send(call, tries.seconds(), signal);
    const outcome = resultOf(call, received);
    if (!(outcome instanceof KeymeterError)) return outcome.result;
    if (!(outcome instanceof Unavailable)) {
      const carriedOut = sent && outcome instanceof Refused ? call.afterSilence?.(outcome) : undefined;
      if (carriedOut) return carriedOut.result;
      throw outcome;
    }
    sent ||= outcome.sent;
    const pause = tries.pause(outcome);
    if (pause === undefined) {
      throw new Unavailable(outcome.message, outcome, outcome.repeatable, sent);
    }
    await sleep(pause, signal);
  }
}

function resultOf<T>(call: Call<T>, received: Received): { readonly result: T } | KeymeterError {
  if ('why' in received) {
    return new Unavailable(`no answer from Keymeter (${received.why})`, {}, true, received.sent);
  }
  const { status, headers, body } = received;
  const requestId = headers.get('x-request-id') ?? undefined;
  try {
    const envelope: unknown = JSON.parse(body);
    if (isObject(envelope)) {
      if (status === 200 && envelope.success === true) return { result: call.read(envelope.data, headers) };
      if (envelope.success === false && typeof envelope.error === 'string') {
        const { codes = CODES } = call;
        // With `http.errors_as_200` the code says the status.
        const known = status === 200 && codes.has(envelope.error) ? undefined : status;
        const retryAfter = seconds(headers.get('retry-after'));
        const etag = headers.get('etag') ?? undefined;
        return errorOf(envelope, { status: known, retryAfter, requestId, etag }, codes);
      }
    }
  } catch {
    // Not JSON, or without a field: not an answer of Keymeter.
  }
  return new Unavailable(
    `the answer is not one of Keymeter (HTTP status ${status}); is KEYMETER_URL right?`,
    { status, requestId },
    // A proxy in front answers 502, 503 and 504 itself.
    status >= 500,
  );
}

/** A date is not read. */
function seconds(header: string | null): number | undefined {
  return header !== null && /^\d{1,9}$/.test(header) ? Number(header) : undefined;
}

/** Throws the reason of `signal` as soon as it is aborted. */
export function sleep(seconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, seconds * 1000);
    if (signal?.aborted) abort();
    else signal?.addEventListener('abort', abort, { once: true });
  });
}

// --- The calls ------------------------------------------------------------------------------------------------------

export function isGiven<T>(value: T | null | undefined): value is T {
  return value !== undefined && value !== null;
}

/** How a field is written that is not sent as it is. */
const WRITERS: Readonly<Record<string, (value: unknown) => unknown>> = {
  usd: (value) => usdText(picoDollars(value as Usd)),
  units: (value) => bodyOf(value as object),
  usage: plain,
};

/** In JSON: with its names, and without what is undefined. */
export function bodyOf(fields: object): JsonObject {
  const body: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (!isGiven(value)) continue;
    // JSON would make null of it, which means absent.
    if (typeof value === 'number' && name !== 'usd' && !Number.isFinite(value)) {
      throw new RangeError(`${name} must be a number`);
    }
    body[wireName(name)] = WRITERS[name]?.(value) ?? value;
  }
  return body;
}

function callOf<T>(path: string, fields: Fields<T>, body: object): Call<T> {
  return {
    path: `/api/gateway/${path}`,
    body: JSON.stringify(bodyOf(body)),
    read: (data) => read(fields, data),
  };
}

/** Begins with the time: Keymeter finds ids of about the same time faster than ids that are only random. */
export function newRequestId(): string {
  const time = Date.now().toString(16).padStart(12, '0');
  return time + crypto.randomUUID().replaceAll('-', '').slice(time.length);
}

/** These fields alone, so that what else an object of the caller has is not sent. */
export function pick<T extends object>(from: T, names: readonly (keyof T)[]): Partial<T> {
  return Object.fromEntries(names.map((name) => [name, from[name]])) as Partial<T>;
}

export function verify(key: string, options: VerifyOptions): Call<Verification> {
  return callOf('verify', VERIFICATION, { key, ...pick(options, USE) });
}

function chargeOf(key: string, options: ChargeOptions): object {
  return {
    key,
    ...pick(options, [...USE, 'usage', 'flavor']),
    requestId: options.requestId ?? newRequestId(),
  };
}

export function charge(key: string, options: ChargeOptions): Call<Charged> {
  return callOf('charge', CHARGED, chargeOf(key, options));
}

export function reserve(key: string, options: ReserveOptions): Call<Reservation> {
  const { ttlSeconds, onExpiry, requestId = newRequestId() } = options;
  return callOf('reserve', RESERVATION, { key, ...pick(options, USE), ttlSeconds, onExpiry, requestId });
}

export function extend(reservationId: string, { usd, quota, ttlSeconds }: ExtendOptions): Call<Extended> {
  return callOf('extend', EXTENDED, { reservationId, usd, quota, ttlSeconds });
}

export function settle(reservationId: string, options: SettleOptions): Call<Settled> {
  return callOf('settle', SETTLED, {
    reservationId,
    ...pick(options, [...AMOUNT, 'model', 'usage', 'flavor']),
  });
}

/** The whole cost, in trillionths of a dollar. As quota where that says the same: so a hold is settled at exactly itself. */
export function amountOf(pico: bigint): Amount {
  return pico % PICO_PER_QUOTA === 0n ? { quota: Number(pico / PICO_PER_QUOTA) } : { usd: usdText(pico) };
}

export function release(reservationId: string): Call<Released> {
  return callOf('release', RELEASED, { reservationId });
}

/** Those that could not be decided are sent again, with the same IDs. */
export async function charges(
  transport: Transport,
  charges: readonly Charge[],
  signal?: AbortSignal,
): Promise<(Charged | KeymeterError)[]> {
  const bodies = charges.map((charge) => bodyOf(chargeOf(charge.key, charge)));
  const tries = new Tries();
  const outcomes: (Charged | KeymeterError)[] = [];
  let undecided = [...bodies.keys()];
  for (;;) {
    const count = undecided.length;
    const call: Call<(Charged | KeymeterError)[]> = {
      path: '/api/gateway/charges',
      body: JSON.stringify({ charges: undecided.map((index) => bodies[index]) }),
      read: (data) => outcomesOf(data, count),
    };
    let answer: (Charged | KeymeterError)[];
    try {
      answer = await ask(transport, call, tries, signal);
    } catch (error) {
      // What was decided before is not lost.
      if (outcomes.length > 0 && error instanceof KeymeterError) return outcomes;
      throw error;
    }
    for (const [place, outcome] of answer.entries()) outcomes[undecided[place] ?? 0] = outcome;
    undecided = undecided.filter((index) => outcomes[index] instanceof Unavailable);
    const first = undecided[0] === undefined ? undefined : outcomes[undecided[0]];
    const pause = first instanceof Unavailable ? tries.pause(first) : undefined;
    if (pause === undefined) return outcomes;
    await sleep(pause, signal);
  }
}

function outcomesOf(data: unknown, count: number): (Charged | KeymeterError)[] {
  if (!Array.isArray(data) || data.length !== count) throw new TypeError('not one outcome for each charge');
  return data.map((each: unknown) => {
    const outcome = objectOf(each);
    return outcome.success === true
      ? read(CHARGED, outcome)
      : errorOf(outcome, { retryAfter: integer(outcome.retry_after) });
  });
}
