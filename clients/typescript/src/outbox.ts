/** Settlements and releases that could not be sent at once, and how they are sent later. */

import { type KeymeterError, Refused, Unavailable } from './errors.ts';
import { sleep } from './exchange.ts';
import type { Level, Log } from './log.ts';
import { CLOSED } from './transport.ts';

const FIRST_PAUSE_SECONDS = 0.5;
const LONGEST_PAUSE_SECONDS = 30;
const CLOSE_SECONDS = 5;

/** The end of a reservation, to be sent until Keymeter answers. */
export interface Ending {
  /** For the log: the call and the reservation. */
  readonly what: string;
  /** Makes one try. Throws a KeymeterError. */
  readonly send: () => Promise<unknown>;
  /** How bad it is if Keymeter refuses it. */
  readonly level: Level;
}

/**
 * A bounded queue. Each spend has a place from its beginning until Keymeter has answered its end, so that no end is ever
 * dropped for want of a place: when all places are taken, new spends are refused before any work is done.
 */
export class Outbox {
  readonly #places: number;
  readonly #log: Log;
  readonly #waitUntil?: (running: Promise<void>) => void;
  readonly #queue: Ending[] = [];
  /** What runs: first tries, and the delivery of the queue. */
  readonly #running = new Set<Promise<void>>();
  readonly #closing = new AbortController();
  readonly #givenUp = new AbortController();
  #taken = 0;
  #delivering = false;
  #leftUndos = false;

  constructor(places: number, log: Log, waitUntil?: (running: Promise<void>) => void) {
    this.#places = places;
    this.#log = log;
    this.#waitUntil = waitUntil;
  }

  /** How many wait. */
  get waiting(): number {
    return this.#queue.length;
  }

  /** Throws Unavailable if there is none. */
  takePlace(): void {
    if (this.#closing.signal.aborted) throw new Error(CLOSED);
    if (this.#taken >= this.#places) {
      throw new Unavailable(
        `${this.#taken} requests wait for Keymeter, ${this.waiting} of them for their settlement`,
        {},
        false,
        false,
      );
    }
    this.#taken += 1;
  }

  leavePlace(): void {
    this.#taken -= 1;
  }

  /** Sends it once, and again later if there is no answer. It keeps the place of its spend. Throws nothing. */
  send(ending: Ending): Promise<void> {
    return this.#run(this.#sendOnce(ending));
  }

  /** Later, a reservation that may not exist. Of these only a few wait, because they end by themselves. */
  addUndo(ending: Ending): void {
    if (this.waiting <= this.#places / 10 && !this.#givenUp.signal.aborted) {
      this.#add(ending);
      return;
    }
    this.leavePlace();
    // Once, not for each request of an outage.
    this.#log(this.#leftUndos ? 'debug' : 'warn', `${ending.what} ends by itself, as its on_expiry says`);
    this.#leftUndos = true;
  }

  /** Waits up to 5 seconds for what was not sent yet, and forgets the rest. */
  async close(): Promise<void> {
    this.#closing.abort();
    const end = new AbortController();
    const late = sleep(CLOSE_SECONDS, end.signal).catch(() => undefined);
    let inTime = true;
    void late.then(() => {
      inTime = end.signal.aborted;
    });
    // One that ends may have started another one.
    while (inTime && this.#running.size > 0) await Promise.race([late, Promise.all(this.#running)]);
    end.abort();
    this.#givenUp.abort();
    const left = this.#queue.splice(0).length;
    this.#taken -= left;
    if (left > 0) {
      this.#log('error', `${left} settlements were not sent: these reservations end as their on_expiry says`);
    }
  }

  async #sendOnce(ending: Ending): Promise<void> {
    try {
      await ending.send();
    } catch (error) {
      if (!(error instanceof Refused)) {
        this.#add(ending);
        return;
      }
      this.#refused(ending, error);
    }
    this.leavePlace();
  }

  #add(ending: Ending): void {
    if (this.#givenUp.signal.aborted) {
      this.leavePlace();
      this.#log('error', `${ending.what} was not sent, because the client was closed`);
      return;
    }
    this.#queue.push(ending);
    if (this.#delivering) return;
    this.#delivering = true;
    void this.#run(this.#deliver());
  }

  /** Sends what waits, one after the other, until nothing is left. */
  async #deliver(): Promise<void> {
    let pause = FIRST_PAUSE_SECONDS;
    let failed = false;
    for (;;) {
      // It stays in the queue until it is answered, so that it is counted.
      const ending = this.#queue[0];
      if (ending === undefined) break;
      try {
        await ending.send();
      } catch (error) {
        if (this.#givenUp.signal.aborted) return;
        if (!(error instanceof Refused)) {
          this.#queue.push(...this.#queue.splice(0, 1));
          failed = true;
          await this.#pause(pause, error);
          if (this.#givenUp.signal.aborted) return;
          pause = Math.min(pause * 2, LONGEST_PAUSE_SECONDS);
          continue;
        }
        this.#refused(ending, error);
      }
      if (this.#givenUp.signal.aborted) return;
      pause = FIRST_PAUSE_SECONDS;
      this.#queue.shift();
      this.leavePlace();
    }
    this.#delivering = false;
    this.#leftUndos = false;
    if (failed) this.#log('info', 'all settlements were sent');
  }

  /** Until the client closes, if that is sooner; then for the first pause. */
  async #pause(seconds: number, error: unknown): Promise<void> {
    const closing = this.#closing.signal.aborted;
    const pause = closing ? FIRST_PAUSE_SECONDS : seconds;
    this.#log('warn', `${this.waiting} settlements wait, next try in ${pause.toFixed(1)} s: ${error}`);
    await sleep(pause, closing ? this.#givenUp.signal : this.#closing.signal).catch(() => undefined);
  }

  #refused(ending: Ending, error: KeymeterError): void {
    this.#log(ending.level, `${ending.what} was refused: ${error}`);
  }

  #run(work: Promise<void>): Promise<void> {
    const running = work.finally(() => this.#running.delete(running));
    this.#running.add(running);
    this.#waitUntil?.(running);
    return running;
  }
}
