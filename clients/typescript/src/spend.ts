/** A hold on quota for as long as some work runs, and its end: what was told, and how it is charged. */

import { PICO, PICO_PER_QUOTA, picoDollars, picoOfQuota, type Usd, usdText } from './amounts.ts';
import type { Extended, Reservation, Settled } from './answers.ts';
import { BadRequest, NotAllowed, Refused, Unavailable } from './errors.ts';
import {
  amountOf,
  ask,
  bodyOf,
  type Call,
  COUNTS,
  type Counts,
  type ExtendOptions,
  extend,
  isGiven,
  newRequestId,
  ONCE,
  type Priced,
  type ProviderUsage,
  pick,
  type ReserveOptions,
  release,
  reserve,
  type SettleOptions,
  settle,
  Tries,
} from './exchange.ts';
import type { Log } from './log.ts';
import type { Ending, Outbox } from './outbox.ts';
import type { Transport } from './transport.ts';

/** The service refuses more. */
const MAX_PICO = 10n ** 9n * PICO;
const MAX_TOKENS = 10 ** 12;
export const DEFAULT_TTL_SECONDS = 600;

/** What the work may cost at most: `usd`, `quota`, or counts with a model. */
export interface SpendOptions extends Omit<ReserveOptions, 'requestId'> {
  /** Extend the hold before it ends, while the work runs. Default: true. */
  readonly renew?: boolean;
  /** Its abort ends the spend: what was told until then is charged. Give it to the work too. */
  readonly signal?: AbortSignal;
}

/** What something cost: an amount, or counts, or both. One with `units`, `usage` or what they depend on is the only one. */
export interface Cost extends Priced, ProviderUsage {
  readonly usd?: Usd;
  /** Quota units: 500,000 are one dollar. */
  readonly quota?: number;
  /** The model that answered, if it is not the one of the hold. The last one counts. */
  readonly model?: string;
}

/** How long its hold lasts, in seconds. */
export function ttlOf(options: SpendOptions): number {
  return options.ttlSeconds || DEFAULT_TTL_SECONDS;
}

/** What a spend needs of its client. */
export interface Client {
  readonly transport: Transport;
  readonly outbox: Outbox;
  readonly log: Log;
  /** What stops the renewals, when the client closes. */
  readonly renewals: Set<() => void>;
}

/** Returned by `Keymeter.open`, or given to the work of `Keymeter.spend`. */
export class Spend implements AsyncDisposable {
  /** What was charged, when Keymeter has answered it. */
  settled?: Settled;
  /** The hold, and whose it is. */
  readonly reservation: Reservation;
  readonly #client: Client;
  readonly #ttlSeconds: number;
  readonly #signal?: AbortSignal;
  readonly #ended = new AbortController();
  #reserved: number;
  /** The sum of the amounts that were told; undefined if none was. */
  #pico?: bigint;
  /** The sums of the counts that were told; undefined if none was. */
  #counts?: Required<Counts>;
  /** Whether costs are told as amounts, or as counts for their price; undefined before the first one. */
  #hasAmounts?: boolean;
  /** What the settlement says of a cost with the usage of a provider or counts by unit. */
  #more: Partial<Cost> = {};
  #model?: string;
  #unknown = false;
  #renewal?: ReturnType<typeof setTimeout>;
  #onAbort?: (reason: unknown) => void;

  /** Use `Keymeter.open`. */
  constructor(client: Client, reservation: Reservation, options: SpendOptions) {
    this.#client = client;
    this.reservation = reservation;
    this.#reserved = reservation.reserved;
    this.#ttlSeconds = ttlOf(options);
    this.#signal = options.signal;
    this.#signal?.addEventListener('abort', this.#aborted);
    if (options.renew ?? true) {
      client.renewals.add(this.#stopRenewal);
      this.#renewAfter(this.#ttlSeconds / 2);
    }
  }

  /** The cost that was told so far as amounts, in dollars. */
  get usd(): string {
    return usdText(this.#pico ?? 0n);
  }

  /** Whether it has ended, so that no cost can be told any more. */
  get ended(): boolean {
    return this.#ended.signal.aborted;
  }

  /**
   * Tells what something cost. May be called often; it adds up. Without an amount, Keymeter computes the cost of the counts.
   * All costs of a spend are told in one of these two ways.
   *
   * Throws a RangeError or a TypeError if this is no cost. What it was is then unknown, so at least the whole hold is charged.
   */
  cost(cost: Cost): void {
    if (this.ended) throw new Error('the spend has ended; this cost is not charged');
    try {
      this.#add(cost);
    } catch (error) {
      this.#unknown = true;
      throw error;
    }
  }

  #add({ usd, quota, model, ...counts }: Cost): void {
    const hasAmount = isGiven(usd) || isGiven(quota);
    const hasCounts = isGiven(counts.promptTokens) || isGiven(counts.completionTokens);
    const hasUnits = isGiven(counts.units) || isGiven(counts.usage);
    if ((isGiven(usd) && isGiven(quota)) || !(hasAmount || hasCounts || hasUnits)) {
      throw new RangeError('give the cost as usd, as quota, as usage, as units or as counts of tokens');
    }
    // A copy: it is sent when the spend ends. Its names are the same in JSON.
    const more: Partial<Cost> = JSON.parse(JSON.stringify(bodyOf(pick(counts, ONCE))));
    if (this.#hasAmounts !== undefined && Object.keys({ ...more, ...this.#more }).length > 0) {
      throw new RangeError(
        'a cost with usage or units must be the only one of its spend; charge others by themselves',
      );
    }
    // A 0 that was not told would say another count.
    if (Object.keys(more).length > 0) Object.assign(more, pick(counts, COUNTS));
    if (this.#hasAmounts !== undefined && this.#hasAmounts !== hasAmount) {
      throw new RangeError('give all costs of a spend as amounts, or all as counts for their price');
    }
    if (isGiven(model) && typeof model !== 'string') throw new RangeError('model must be a string');
    const sum = (name: keyof Counts) => {
      const count = countOf(counts[name] ?? 0, name, MAX_TOKENS) + (this.#counts?.[name] ?? 0);
      return countOf(count, name, MAX_TOKENS);
    };
    const sums = Object.fromEntries(COUNTS.map((name) => [name, sum(name)])) as Record<keyof Counts, number>;
    if (hasAmount) {
      const added = isGiven(usd)
        ? picoDollars(usd)
        : picoOfQuota(countOf(quota, 'quota', Number(MAX_PICO / PICO_PER_QUOTA)));
      const pico = (this.#pico ?? 0n) + added;
      if (pico > MAX_PICO) throw new RangeError('the cost is too large');
      this.#pico = pico;
    }
    this.#hasAmounts = hasAmount;
    this.#more = more;
    if (hasCounts || this.#counts) this.#counts = sums;
    if (isGiven(model)) this.#model = model;
  }

  /** Holds more, or for longer, as `Keymeter.extend`. */
  async extend(options: ExtendOptions): Promise<Extended> {
    return this.#extend(options, this.#signal);
  }

  /**
   * Settles or releases: with a cost, what was told; without one, nothing if there was an error, else the whole hold.
   * Throws nothing: what cannot be sent now is sent in the background.
   *
   * @param error what the work threw
   */
  async end(error?: unknown): Promise<void> {
    const ending = this.#end(error !== undefined);
    if (ending) await this.#client.outbox.send(ending);
  }

  /** Ends it. Nobody says whether the block threw, so without a cost the whole hold is charged. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.end(this.#signal?.aborted ? this.#signal.reason : undefined);
  }

  /** Runs the work, and ends. For `Keymeter.spend`. */
  async run<T>(work: (spend: Spend) => T | PromiseLike<T>): Promise<T> {
    try {
      const aborted = new Promise<never>((_, reject) => {
        this.#onAbort = reject;
      });
      const result = await Promise.race([(async () => work(this))(), aborted]);
      await this.end();
      return result;
    } catch (error) {
      await this.end(error ?? new Error('the work failed'));
      throw error;
    }
  }

  readonly #aborted = () => {
    // After what the work tells when it sees the abort itself.
    setTimeout(() => {
      const reason: unknown = this.#signal?.reason;
      void this.end(reason);
      this.#onAbort?.(reason);
    });
  };

  #end(failed: boolean): Ending | undefined {
    if (this.ended) return undefined;
    this.#ended.abort();
    this.#stopRenewal();
    this.#client.renewals.delete(this.#stopRenewal);
    this.#signal?.removeEventListener('abort', this.#aborted);
    const told = this.#hasAmounts !== undefined;
    if (failed && !told && !this.#unknown) return this.#releasing();
    return this.#settling();
  }

  #releasing(): Ending {
    const { reservationId } = this.reservation;
    const send = () => this.#once(release(reservationId));
    return { what: `the release of ${reservationId}`, send, level: 'warn' };
  }

  #settling(): Ending {
    const { reservationId } = this.reservation;
    const certain = this.#certainCost();
    let told = this.#unknown ? certain : this.#toldCost();
    const { quota, usd, promptTokens, completionTokens } = told;
    const amount = usd ? picoDollars(usd) : isGiven(quota) ? picoOfQuota(quota) : undefined;
    const tokens = this.#counts ? `${promptTokens} and ${completionTokens} tokens` : 'the price of its usage';
    const cost = amount === undefined ? tokens : `${usdText(amount)} USD`;
    const what = `the settlement of ${reservationId} at ${cost}`;
    const send = async () => {
      try {
        this.settled = await this.#once(settle(reservationId, told));
      } catch (error) {
        const isToldRefused = error instanceof BadRequest || error instanceof NotAllowed;
        if (!isToldRefused || told === certain) throw error;
        this.#client.log('error', `${what} was refused: ${error}; it is settled without what was refused`);
        told = certain;
        this.settled = await this.#once(settle(reservationId, certain));
      }
    };
    return { what, send, level: 'error' };
  }

  /** As it was told: the amounts, or without any the counts. */
  #toldCost(): SettleOptions {
    const [pico, counts = {}, more, model] = [this.#pico, this.#counts, this.#more, this.#model];
    if (this.#hasAmounts === undefined) return this.#certainCost();
    const amount = pico === undefined ? {} : amountOf(pico);
    const zeros = pico === undefined && Object.keys(more).length === 0;
    return { ...amount, ...(zeros ? counts : withoutZeros(counts)), ...more, model };
  }

  /** What Keymeter does not refuse. Where the cost is not known, at least the whole hold. */
  #certainCost(): SettleOptions {
    const hold = picoOfQuota(this.#reserved);
    const told = this.#pico ?? hold;
    const pico = this.#unknown && told < hold ? hold : told;
    const { promptTokens, completionTokens } = this.#counts ?? {};
    return { ...amountOf(pico), ...withoutZeros({ promptTokens, completionTokens }) };
  }

  #once<T>(call: Call<T>): Promise<T> {
    return ask(this.#client.transport, call, new Tries(1));
  }

  async #extend(options: ExtendOptions, signal?: AbortSignal): Promise<Extended> {
    const call = extend(this.reservation.reservationId, options);
    const extended = await ask(this.#client.transport, call, new Tries(), signal);
    this.#reserved = extended.reserved;
    return extended;
  }

  #renewAfter(seconds: number): void {
    const timer = setTimeout(() => void this.#renew(), seconds * 1000);
    this.#renewal = timer;
    // It alone keeps no program running. Other runtimes have numbers.
    (timer as { unref?: () => void }).unref?.();
  }

  /** Extends the hold each time half of it is over, until it is refused or the spend ends. */
  async #renew(): Promise<void> {
    let pause = this.#ttlSeconds / 2;
    try {
      await this.#extend({ ttlSeconds: this.#ttlSeconds }, this.#ended.signal);
    } catch (error) {
      if (this.ended) return;
      if (error instanceof Refused) {
        const { reservationId } = this.reservation;
        this.#client.log('warn', `${reservationId} is not extended and may end before its work: ${error}`);
        return;
      }
      pause = Math.min(5, this.#ttlSeconds / 10);
    }
    if (this.#client.renewals.has(this.#stopRenewal)) this.#renewAfter(pause);
  }

  readonly #stopRenewal = () => clearTimeout(this.#renewal);
}

/** Holds, and begins the spend. Throws Unavailable or Refused, or the reason of the signal. */
export async function open(client: Client, key: string, options: SpendOptions): Promise<Spend> {
  options.signal?.throwIfAborted();
  const call = reserve(key, { ...options, requestId: newRequestId() });
  client.outbox.takePlace();
  let reservation: Reservation;
  try {
    reservation = await ask(client.transport, call, new Tries(), options.signal);
    // The answer came together with the abort.
    options.signal?.throwIfAborted();
  } catch (error) {
    const holdsNothing = error instanceof Refused || (error instanceof Unavailable && !error.sent);
    if (holdsNothing) client.outbox.leavePlace();
    else client.outbox.addUndo(undoing(client, call));
    throw error;
  }
  return new Spend(client, reservation, options);
}

/** Releases a reservation whose answer was lost. Nobody knows its ID but Keymeter, which returns it again. */
function undoing({ transport }: Client, call: Call<Reservation>): Ending {
  const send = async () => {
    const { reservationId } = await ask(transport, call, new Tries(1));
    await ask(transport, release(reservationId), new Tries(1));
  };
  return { what: 'a reservation without an answer', send, level: 'debug' };
}

function countOf(value: unknown, name: string, most: number): number {
  if (!Number.isInteger(value) || (value as number) < 0 || (value as number) > most) {
    throw new RangeError(`${name} must be a whole number from 0 to ${most}`);
  }
  return value as number;
}

function withoutZeros(counts: Counts): Counts {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count));
}
