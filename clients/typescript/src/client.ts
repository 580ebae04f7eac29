/** The client. */

import type { Charged, Extended, Released, Reservation, Settled, Verification } from './answers.ts';
import type { KeymeterError } from './errors.ts';
import type {
  Call,
  Charge,
  ChargeOptions,
  ExtendOptions,
  ReserveOptions,
  SettleOptions,
  VerifyOptions,
} from './exchange.ts';
import * as exchange from './exchange.ts';
import { consoleLog, type Log } from './log.ts';
import { Outbox } from './outbox.ts';
import { type Client, open, type Spend, type SpendOptions } from './spend.ts';
import { type ServiceOptions, Settings, Transport } from './transport.ts';

export interface KeymeterOptions extends ServiceOptions {
  /** Of a gateway. Default: the environment variable `KEYMETER_CREDENTIAL`. */
  readonly credential?: string;
  /** How many spends may be open or wait for their settlement; beyond it, new ones throw Unavailable. Default: 10,000. */
  readonly maxSpends?: number;
  /** Default: warnings and errors go to the console. */
  readonly log?: Log;
  /** Gets what settles in the background, where a program ends with its answer: `(promise) => ctx.waitUntil(promise)`. */
  readonly waitUntil?: (promise: Promise<void>) => void;
}

/** Its abort ends the call, with the signal's reason. */
export interface Abortable {
  readonly signal?: AbortSignal;
}

/** Keymeter's calls for gateways. Make one when your program starts, and close it when it ends. */
export class Keymeter implements AsyncDisposable {
  readonly url: string;
  readonly #client: Client;

  constructor(options: KeymeterOptions = {}) {
    const settings = new Settings(options.url, options.credential);
    const log = options.log ?? consoleLog;
    this.url = settings.url;
    this.#client = {
      transport: new Transport(settings, options.fetch),
      outbox: new Outbox(options.maxSpends ?? 10_000, log, options.waitUntil),
      log,
      renewals: new Set(),
    };
  }

  /** How many settlements could not be sent yet. */
  get waiting(): number {
    return this.#client.outbox.waiting;
  }

  /** Where it writes. */
  get log(): Log {
    return this.#client.log;
  }

  /** Waits up to 5 seconds for settlements that were not sent yet. Afterwards no call succeeds. */
  async close(): Promise<void> {
    const { outbox, renewals, transport } = this.#client;
    for (const stop of renewals) stop();
    renewals.clear();
    await outbox.close();
    transport.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Asks whether a key may be used. Charges nothing, and throws nothing for a key that may not: read `valid`. */
  async verify(key: string, options: VerifyOptions & Abortable = {}): Promise<Verification> {
    return this.#ask(exchange.verify(key, options), options.signal);
  }

  /** Charges a known cost. Without a `requestId` of yours it gets one, so that its retries charge once. */
  async charge(key: string, options: ChargeOptions & Abortable): Promise<Charged> {
    return this.#ask(exchange.charge(key, options), options.signal);
  }

  /** Up to 1,000 charges. Each succeeds or fails on its own: the errors are in the list, in the order of the charges. */
  async charges(
    charges: readonly Charge[],
    options: Abortable = {},
  ): Promise<readonly (Charged | KeymeterError)[]> {
    return exchange.charges(this.#client.transport, charges, options.signal);
  }

  /** Holds what a request may cost at most, for 600 seconds if `ttlSeconds` says nothing else. */
  async reserve(key: string, options: ReserveOptions & Abortable): Promise<Reservation> {
    return this.#ask(exchange.reserve(key, options), options.signal);
  }

  /** Holds more, or for longer. The amount is the whole hold afterwards, the time counts from now; neither shrinks. */
  async extend(reservationId: string, options: ExtendOptions & Abortable): Promise<Extended> {
    return this.#ask(exchange.extend(reservationId, options), options.signal);
  }

  /** Charges what it cost, and gives back the rest of the hold. */
  async settle(reservationId: string, options: SettleOptions & Abortable): Promise<Settled> {
    return this.#ask(exchange.settle(reservationId, options), options.signal);
  }

  /** Gives the whole hold back. */
  async release(reservationId: string, options: Abortable = {}): Promise<Released> {
    return this.#ask(exchange.release(reservationId), options.signal);
  }

  /**
   * Holds what the work may cost at most, runs it, and charges what it told: `spend.cost({ usd })`. Returns what the work
   * returns. Throws Unavailable or Refused before the work, and what the work throws.
   */
  async spend<T>(
    key: string,
    options: SpendOptions,
    work: (spend: Spend) => T | PromiseLike<T>,
  ): Promise<Awaited<T>> {
    const spend = await open(this.#client, key, options);
    return (await spend.run(work)) as Awaited<T>;
  }

  /** The same for `await using spend = await km.open(…)`, or with `spend.end()` in any case. */
  async open(key: string, options: SpendOptions): Promise<Spend> {
    return open(this.#client, key, options);
  }

  #ask<T>(call: Call<T>, signal: AbortSignal | undefined): Promise<T> {
    return exchange.ask(this.#client.transport, call, new exchange.Tries(), signal);
  }
}
