/** The calls for one's own tokens: what is sent, and how the pages of a list follow each other. */

import {
  type Fields,
  isObject,
  OLD_KEY,
  type OldKey,
  type PeriodLimits,
  type RateLimits,
  ROTATED,
  type Rotated,
  read,
  readList,
  TOKEN,
  type Token,
  wireName,
} from './answers.ts';
import { NotFound, type Refused, TOKEN_CODES } from './errors.ts';
import { bodyOf, type Call, newRequestId, pick, Tries } from './exchange.ts';

/** A call may change 1,000 tokens. */
const TRY_SECONDS = 10;
const TOTAL_SECONDS = 30;
/** The names of models and the addresses of 1,000 tokens. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;
const PAGE_SIZE = 100;

/** What may be done with a token. What is left out has its default, and in a change stays as it is. */
export interface TokenFields {
  /** Quota units: 500,000 are one dollar. */
  readonly remainQuota?: number;
  /** Only the owner's wallet limits the token. */
  readonly unlimitedQuota?: boolean;
  /** Unix timestamp; -1 or 0 means never. */
  readonly expiredTime?: number;
  readonly periodLimits?: Partial<PeriodLimits>;
  readonly rateLimits?: Partial<RateLimits>;
  /** Whether `modelLimits` applies. */
  readonly modelLimitsEnabled?: boolean;
  /** Names. One that ends in `*` matches every name that begins like it. */
  readonly modelLimits?: string | readonly string[];
  /** Addresses or CIDR networks. */
  readonly allowIps?: string | readonly string[];
  /** Empty: the group of the owner; or `auto`. */
  readonly group?: string;
  /** Only for the group `auto`. */
  readonly crossGroupRetry?: boolean;
  /** Users of the key see the addresses of its requests. */
  readonly showAddresses?: boolean;
  readonly note?: string;
}

/** One of the tokens of `createMany`. */
export interface NewToken extends TokenFields {
  readonly name: string;
}

export interface TokenChanges extends TokenFields {
  readonly name?: string;
  /** Quota units to add, also while the token is charged; negative to take some away. Not together with `remainQuota`. */
  readonly addQuota?: number;
}

export interface BulkChanges extends TokenChanges {
  /** 1 enables, 2 disables. */
  readonly status?: 1 | 2;
}

/** A call with it is carried out once. */
export interface Keyed {
  /** Yours, to repeat a call after a restart, within 72 hours. Without it, each call draws one for all its tries. */
  readonly idempotencyKey?: string;
}

export interface Versioned {
  /** The `etag` of a token that you read: if it was changed since, TokenChanged is thrown and nothing is done. */
  readonly ifMatch?: string;
}

export interface TokenFilters {
  readonly status?: 1 | 2 | 3 | 4;
  readonly state?: string;
  /** A group, `auto`, or `own` for tokens without a group. */
  readonly group?: string;
  readonly sort?: 'id' | 'name' | 'remain_quota' | 'used_quota' | 'accessed_time' | 'expired_time';
  readonly order?: 'asc' | 'desc';
}

export interface Grace {
  /** Default: 86,400, a day. */
  readonly graceSeconds?: number;
  /** When they begin. Default: `first_use` of the new key. With 0 seconds from `now`, the old key ends with the call. */
  readonly graceFrom?: 'first_use' | 'now';
}

export function tries(): Tries {
  return new Tries(undefined, TRY_SECONDS, TOTAL_SECONDS);
}

interface Sent {
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

function callOf<T>(
  method: string,
  path: string,
  { body, headers }: Sent,
  read: Call<T>['read'],
  afterSilence?: Call<T>['afterSilence'],
): Call<T> {
  return {
    method,
    path: `/api/token/${path}`,
    body: body && JSON.stringify(body),
    headers,
    maxAnswerBytes: MAX_ANSWER_BYTES,
    read,
    codes: TOKEN_CODES,
    afterSilence,
  };
}

/** The version is in a header. */
const oneToken = (data: unknown, headers: Headers): Token =>
  read(TOKEN, isObject(data) ? { ...data, etag: headers.get('etag') } : data);
const manyTokens = (data: unknown): readonly Token[] => readList(TOKEN, data);

/** What is gone after a try without an answer was ended by it. */
const isGone = (error: Refused) => (error instanceof NotFound ? { result: undefined } : undefined);

const FIELDS = [
  'name',
  'status',
  'addQuota',
  'remainQuota',
  'unlimitedQuota',
  'expiredTime',
  'periodLimits',
  'rateLimits',
  'modelLimitsEnabled',
  'modelLimits',
  'allowIps',
  'group',
  'crossGroupRetry',
  'showAddresses',
  'note',
] as const;

function fieldsOf(options: BulkChanges): object {
  const { periodLimits, rateLimits, allowIps } = options;
  return bodyOf({
    ...pick(options, FIELDS),
    periodLimits: periodLimits && bodyOf(periodLimits),
    rateLimits: rateLimits && bodyOf(rateLimits),
    allowIps: typeof allowIps === 'string' ? allowIps : allowIps?.join('\n'),
  });
}

/** A single change reads no status, and a new token is not added to. */
function changesOf(options: BulkChanges): object {
  return fieldsOf({ ...options, status: undefined });
}

function newOf(options: BulkChanges): object {
  return fieldsOf({ ...options, status: undefined, addQuota: undefined });
}

function idOf(id: number): number {
  if (!Number.isSafeInteger(id)) throw new RangeError('an ID must be a whole number');
  return id;
}

function ifMatch(etag: string | undefined): Record<string, string> {
  if (etag === undefined || etag === '*') return {};
  if (etag === '') {
    throw new RangeError(
      'ifMatch has no version, because this token came from a list: read it with get() first',
    );
  }
  return { 'if-match': header('ifMatch', etag) };
}

/** All tries of a call have the same key. */
function once(key = newRequestId()): Record<string, string> {
  return { 'idempotency-key': header('idempotencyKey', key) };
}

function header(name: string, value: string): string {
  if (!/^[ -~]{1,255}$/.test(value))
    throw new RangeError(`${name} must be 1 to 255 printable ASCII characters`);
  return value;
}

// --- The calls ------------------------------------------------------------------------------------------------------

export function create(token: NewToken & Keyed): Call<Token> {
  const headers = { prefer: 'return=representation', ...once(token.idempotencyKey) };
  return callOf('POST', '', { body: newOf(token), headers }, oneToken);
}

export function createMany(tokens: readonly NewToken[], { idempotencyKey }: Keyed): Call<readonly Token[]> {
  return callOf(
    'POST',
    'bulk',
    { body: { tokens: tokens.map(newOf) }, headers: once(idempotencyKey) },
    manyTokens,
  );
}

export function get(id: number): Call<Token> {
  return callOf('GET', `${idOf(id)}/details`, {}, oneToken);
}

export function reveal(id: number): Call<string> {
  return callOf('POST', `${idOf(id)}/key`, {}, (data) => {
    if (!isObject(data) || typeof data.key !== 'string') throw new TypeError('key is missing');
    return data.key;
  });
}

export function update(id: number, changes: TokenChanges & Versioned & Keyed): Call<Token> {
  const headers = { ...ifMatch(changes.ifMatch), ...once(changes.idempotencyKey) };
  return callOf('PUT', '', { body: { id: idOf(id), ...changesOf(changes) }, headers }, oneToken);
}

export function updateMany(ids: readonly number[], changes: BulkChanges & Keyed): Call<readonly Token[]> {
  const body = { ids: ids.map(idOf), set: fieldsOf(changes) };
  return callOf('PATCH', 'bulk', { body, headers: once(changes.idempotencyKey) }, manyTokens);
}

export function remove(id: number, { ifMatch: etag }: Versioned): Call<void> {
  return callOf('DELETE', `${idOf(id)}`, { headers: ifMatch(etag) }, () => undefined, isGone);
}

/** Undefined if a try without an answer restored it. */
export function restore(id: number): Call<Token | undefined> {
  return callOf<Token | undefined>('POST', `${idOf(id)}/restore`, {}, oneToken, isGone);
}

export function rotate(
  id: number,
  { graceSeconds, graceFrom, idempotencyKey }: Grace & Keyed,
): Call<Rotated> {
  const body = bodyOf({ graceSeconds, graceFrom });
  return callOf('POST', `${idOf(id)}/rotate`, { body, headers: once(idempotencyKey) }, (data) =>
    read(ROTATED, data),
  );
}

export function oldKeys(id: number, ended: boolean): Call<readonly OldKey[]> {
  const path = `${idOf(id)}/old_keys${ended ? '?ended=1' : ''}`;
  return callOf('GET', path, {}, (data) => readList(OLD_KEY, data));
}

export function endOldKey(id: number, keyId: number): Call<void> {
  return callOf('DELETE', `${idOf(id)}/old_keys/${idOf(keyId)}`, {}, () => undefined, isGone);
}

interface Page {
  readonly total: number;
  readonly items: readonly Token[];
}

const PAGE: Fields<Page> = {
  total: (data) => {
    if (typeof data !== 'number') throw new TypeError('total is missing');
    return data;
  },
  items: manyTokens,
};

/**
 * The tokens of a list, page by page, each once.
 *
 * If the list becomes shorter meanwhile, for example because the program deletes what it gets, the next page begins with tokens
 * that come later. So it goes back as many pages as tokens were lost, and leaves out those that it had before.
 */
export async function* list(
  filters: TokenFilters & { readonly deleted?: 1 },
  ask: (call: Call<Page>) => Promise<Page>,
): AsyncGenerator<Token, void, undefined> {
  const named = pick(filters, ['status', 'state', 'group', 'sort', 'order', 'deleted']);
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(named)) {
    if (value !== undefined) query.set(wireName(name), String(value));
  }
  const seen = new Set<number>();
  let page = 1;
  let known = 0;
  for (;;) {
    query.set('p', String(page));
    query.set('page_size', String(PAGE_SIZE));
    const { total, items } = await ask(callOf('GET', `?${query}`, {}, (data) => read(PAGE, data)));
    const lost = known - total;
    known = total;
    if (lost > 0 && page > 1) {
      page = Math.max(1, page - Math.ceil(lost / PAGE_SIZE));
      continue;
    }
    page += 1;
    for (const token of items) {
      if (seen.has(token.id)) continue;
      seen.add(token.id);
      yield token;
    }
    if (items.length < PAGE_SIZE) return;
  }
}
