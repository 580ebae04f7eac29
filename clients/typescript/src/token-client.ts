/** The client for one's own tokens. */

import type { OldKey, Rotated, Token } from './answers.ts';
import type { Abortable } from './client.ts';
import { ask, type Call } from './exchange.ts';
import type {
  BulkChanges,
  Grace,
  Keyed,
  NewToken,
  TokenChanges,
  TokenFields,
  TokenFilters,
  Versioned,
} from './tokens.ts';
import * as tokens from './tokens.ts';
import { type ServiceOptions, Settings, Transport } from './transport.ts';

export interface KeymeterTokensOptions extends ServiceOptions {
  /** Yours. Default: the environment variable `KEYMETER_ACCESS_TOKEN`. */
  readonly accessToken?: string;
}

/** Creates, changes, rotates and deletes your own tokens, with an access token. */
export class KeymeterTokens implements AsyncDisposable {
  readonly url: string;
  readonly #transport: Transport;

  constructor(options: KeymeterTokensOptions = {}) {
    const meaning = "an access token, which Keymeter's dashboard makes";
    const settings = new Settings(options.url, options.accessToken, 'KEYMETER_ACCESS_TOKEN', meaning);
    this.url = settings.url;
    this.#transport = new Transport(settings, options.fetch);
  }

  /** Ends the calls that run. Afterwards no call succeeds. */
  async close(): Promise<void> {
    this.#transport.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Creates a token. Its `key` is in the answer. Without `remainQuota` and `unlimitedQuota` it has no quota. */
  async create(name: string, options: TokenFields & Keyed & Abortable = {}): Promise<Token> {
    return this.#ask(tokens.create({ ...options, name }), options.signal);
  }

  /** Creates up to 100 tokens, all or none. They are in the order of `list`, with their keys. */
  async createMany(list: readonly NewToken[], options: Keyed & Abortable = {}): Promise<readonly Token[]> {
    return this.#ask(tokens.createMany(list, options), options.signal);
  }

  /** Reads a token, without its key. */
  async get(id: number, options: Abortable = {}): Promise<Token> {
    return this.#ask(tokens.get(id), options.signal);
  }

  /** The key of a token. The audit log has a line for that. */
  async reveal(id: number, options: Abortable = {}): Promise<string> {
    return this.#ask(tokens.reveal(id), options.signal);
  }

  /**
   * Your tokens, the newest first, without their keys. Reads the next page when it is needed. The program may delete the tokens
   * that it gets. A token that moves to another place meanwhile may be missed.
   */
  list(options: TokenFilters & Abortable = {}): AsyncGenerator<Token, void, undefined> {
    return tokens.list({ ...options, deleted: undefined }, (call) => this.#ask(call, options.signal));
  }

  /** The tokens that can be restored, the last deleted first. */
  listDeleted(options: Abortable = {}): AsyncGenerator<Token, void, undefined> {
    return tokens.list({ deleted: 1 }, (call) => this.#ask(call, options.signal));
  }

  /** Changes the fields that are given. */
  async update(id: number, changes: TokenChanges & Versioned & Keyed & Abortable): Promise<Token> {
    return this.#ask(tokens.update(id, changes), changes.signal);
  }

  /** Changes up to 1,000 tokens in the same way, all or none. */
  async updateMany(
    ids: readonly number[],
    changes: BulkChanges & Keyed & Abortable,
  ): Promise<readonly Token[]> {
    return this.#ask(tokens.updateMany(ids, changes), changes.signal);
  }

  /** Deletes a token. It can be restored for some time, by default 30 days. */
  async delete(id: number, options: Versioned & Abortable = {}): Promise<void> {
    return this.#ask(tokens.remove(id, options), options.signal);
  }

  /** Takes a deletion back. The key works again. */
  async restore(id: number, options: Abortable = {}): Promise<Token> {
    return (await this.#ask(tokens.restore(id), options.signal)) ?? (await this.get(id, options));
  }

  /** Replaces the key of a token. The old one works for a while longer. */
  async rotate(id: number, options: Grace & Keyed & Abortable = {}): Promise<Rotated> {
    return this.#ask(tokens.rotate(id, options), options.signal);
  }

  /** The replaced keys that still work, or those that `ended` in the last 90 days, the last rotation first. */
  async oldKeys(
    id: number,
    options: { readonly ended?: boolean } & Abortable = {},
  ): Promise<readonly OldKey[]> {
    return this.#ask(tokens.oldKeys(id, options.ended ?? false), options.signal);
  }

  /** Ends an old key before its time. */
  async endOldKey(id: number, keyId: number, options: Abortable = {}): Promise<void> {
    return this.#ask(tokens.endOldKey(id, keyId), options.signal);
  }

  #ask<T>(call: Call<T>, signal: AbortSignal | undefined): Promise<T> {
    return ask(this.#transport, call, tokens.tries(), signal);
  }
}
