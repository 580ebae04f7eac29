/** The client knows every field and every error code of the gateway calls in the OpenAPI document. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { PICO, PICO_PER_QUOTA } from '../src/amounts.ts';
import {
  CHARGED,
  EXTENDED,
  OLD_KEY,
  PERIOD_LIMITS,
  PERIOD_USAGE,
  PERIOD_USE,
  RATE_LIMITS,
  RELEASED,
  RESERVATION,
  ROTATED,
  SETTLED,
  TOKEN,
  VERIFICATION,
  wireName,
} from '../src/answers.ts';
import { CODES, TOKEN_CODES, Unavailable } from '../src/errors.ts';
import { Keymeter, KeymeterTokens } from '../src/index.ts';
import { DEFAULT_TTL_SECONDS } from '../src/spend.ts';
import { ROOT } from './service.ts';

interface Schema {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly enum?: readonly string[];
  readonly allOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
}

interface Body {
  readonly content: { readonly 'application/json': { readonly schema: Schema } };
}

interface Operation {
  readonly requestBody: Body;
  readonly responses: Readonly<Record<string, Body>>;
}

const path = join(ROOT, 'dashboard/openapi.json');
const document = JSON.parse(readFileSync(path, 'utf8'));
const calls = new Map<string, Operation>();
for (const [path, { post }] of Object.entries<{ post?: Operation }>(document.paths)) {
  const [, call] = /^\/api\/gateway\/(\w+)$/.exec(path) ?? [];
  if (call && post) calls.set(call, post);
}
const ANSWERS: Record<string, object> = {
  verify: VERIFICATION,
  charge: CHARGED,
  charges: CHARGED,
  reserve: RESERVATION,
  extend: EXTENDED,
  settle: SETTLED,
  release: RELEASED,
};
/** What a failure has beside its code: the figures of LimitExceeded. */
const FIGURES = [
  'success',
  'error',
  'message',
  'code',
  'period',
  'limit',
  'used',
  'resets_at',
  'retry_after',
];

/** Which of many tokens is the reason of a failure. */
const PLACE = ['index', 'id'];
/** The calls for one's own tokens, and what they are in the document. */
const TOKEN_CALLS: Record<string, readonly [method: string, path: string]> = {
  create: ['post', '/api/token/'],
  createMany: ['post', '/api/token/bulk'],
  get: ['get', '/api/token/{id}/details'],
  reveal: ['post', '/api/token/{id}/key'],
  list: ['get', '/api/token/'],
  update: ['put', '/api/token/'],
  updateMany: ['patch', '/api/token/bulk'],
  delete: ['delete', '/api/token/{id}'],
  restore: ['post', '/api/token/{id}/restore'],
  rotate: ['post', '/api/token/{id}/rotate'],
  oldKeys: ['get', '/api/token/{id}/old_keys'],
  endOldKey: ['delete', '/api/token/{id}/old_keys/{key_id}'],
};
/** Names of the same fields for one-api. */
const ALIASES = ['models', 'subnet'];

function resolve(schema: Schema): Schema {
  const name = schema.$ref?.split('/').at(-1);
  return name === undefined ? schema : resolve(document.components.schemas[name]);
}

/** The names of the members, also of the alternatives and parts that a schema is made of. */
function fields(schema: Schema | undefined): string[] {
  const { properties = {}, allOf = [], oneOf = [], anyOf = [] } = resolve(schema ?? {});
  const parts = [...allOf, ...oneOf, ...anyOf].flatMap(fields);
  return [...new Set([...Object.keys(properties), ...parts])].sort();
}

function codes(call: Operation): (readonly [code: string, status: number])[] {
  return Object.entries(call.responses).flatMap(([status, { content }]) => {
    const parts = status === '200' ? [] : (content['application/json'].schema.allOf ?? []);
    return parts.flatMap((part) =>
      (part.properties?.error?.enum ?? []).map((code) => [code, Number(status)] as const),
    );
  });
}

/** The fields that the client sends if it is given all options. */
async function sent(call: string): Promise<string[]> {
  const counts = { promptTokens: 1, completionTokens: 1, cachedTokens: 1, cacheWriteTokens: 1 };
  const amount = { usd: 1, quota: 1, ...counts, units: {}, context: {}, provider: 'p' };
  const used = { usage: {}, flavor: 'f' };
  const use = { ...amount, model: 'm', ip: '::1' };
  let body: Record<string, unknown> = {};
  const km = new Keymeter({
    url: 'http://127.0.0.1:1',
    credential: 'kmg_1',
    fetch: async (_url, init) => {
      body = JSON.parse(String(init.body));
      throw new Error('nothing is sent');
    },
  });
  const signal = AbortSignal.timeout(50);
  const asked: Record<string, () => Promise<unknown>> = {
    verify: () => km.verify('sk-1', { ...use, signal }),
    charge: () => km.charge('sk-1', { ...use, ...used, requestId: 'r', signal }),
    charges: () => km.charges([{ key: 'sk-1', ...use, ...used, requestId: 'r' }], { signal }),
    reserve: () => km.reserve('sk-1', { ...use, ttlSeconds: 1, onExpiry: 'charge', requestId: 'r', signal }),
    extend: () => km.extend('r1.1', { usd: 1, quota: 1, ttlSeconds: 1, signal }),
    settle: () => km.settle('r1.1', { ...amount, ...used, model: 'm', signal }),
    release: () => km.release('r1.1', { signal }),
  };
  await asked[call]?.().catch(() => undefined);
  const [charge] = (body.charges as Record<string, unknown>[] | undefined) ?? [body];
  return Object.keys(charge ?? {}).sort();
}

test('the client has every call', () => {
  expect([...calls.keys()].sort()).toEqual(Object.keys(ANSWERS).sort());
});

describe.each([...calls])('%s', (name, call) => {
  test('has every field of its body', async () => {
    let body = call.requestBody.content['application/json'].schema;
    if (name === 'charges') {
      expect(fields(body)).toEqual(['charges']);
      body = resolve(body).properties?.charges?.items ?? {};
    }
    expect(await sent(name)).toEqual(fields(body));
  });

  test('has every field of its answer', () => {
    const answer = call.responses['200']?.content['application/json'].schema ?? {};
    const data = resolve(answer).properties?.data;
    const known = Object.keys(ANSWERS[name] ?? {}).map(wireName);
    if (name === 'charges') {
      const figures = FIGURES.filter((figure) => figure !== 'code');
      expect(fields(data?.items)).toEqual([...new Set([...known, ...figures])].sort());
    } else {
      expect(fields(data)).toEqual(known.sort());
    }
  });

  test('has an error for each code', () => {
    expect(codes(call).length).toBeGreaterThan(0);
    for (const [code, status] of codes(call)) {
      const [knownStatus, kind] = CODES.get(code) ?? [];
      expect([code, knownStatus]).toEqual([code, status]);
      expect(kind === Unavailable).toBe(status >= 500);
    }
  });
});

test('no code is known that no call answers', () => {
  const answered = [...calls.values()].flatMap(codes).map(([code]) => code);
  expect([...CODES.keys()].sort()).toEqual([...new Set(answered)].sort());
});

test('a failure has no field that the errors lack', () => {
  // `faults` is of a call of administrators.
  expect([...FIGURES, ...PLACE, 'faults']).toEqual(expect.arrayContaining(named('Failure')));
});

test('the unit of quota and the longest hold are those of the service', () => {
  const limits = document['x-limits'];
  expect(BigInt(limits.quota_per_usd) * PICO_PER_QUOTA).toBe(PICO);
  expect(limits.reservation_seconds).toBeGreaterThan(DEFAULT_TTL_SECONDS);
});

/** The fields of an object of the document, without those of one-api and the `left` ones. */
function named(name: string, ...left: string[]): string[] {
  const without = [...ALIASES, ...left];
  return fields({ $ref: `#/components/schemas/${name}` }).filter((field) => !without.includes(field));
}

test('a token has every field when it is made and changed', async () => {
  const all = {
    remainQuota: 1,
    unlimitedQuota: true,
    expiredTime: 1,
    periodLimits: { day: 1, week: 1, month: 1 },
    rateLimits: { requestsPerMinute: 1, tokensPerMinute: 1, concurrency: 1 },
    modelLimitsEnabled: true,
    modelLimits: 'm',
    allowIps: '::1',
    group: 'g',
    crossGroupRetry: true,
    showAddresses: true,
    note: 'n',
  };
  const bodies: Record<string, unknown>[] = [];
  let query = new URLSearchParams();
  const tokens = new KeymeterTokens({
    url: 'http://127.0.0.1:1',
    accessToken: 'kma_1',
    fetch: async (url, init) => {
      if (init.body) bodies.push(JSON.parse(String(init.body)));
      query = new URL(url).searchParams;
      return new Response('{"success":false,"error":"not_found","message":"m"}', { status: 404 });
    },
  });
  const sent = async (call: Promise<unknown>): Promise<Record<string, unknown>> => {
    bodies.length = 0;
    await call.catch(() => undefined);
    return bodies[0] ?? {};
  };
  const names = (body: unknown) => Object.keys(body as object).sort();
  const changes = { ...all, name: 'n', addQuota: 1 };
  // `status` is read from `updateMany` only.
  const [made, changed] = [named('CreateBody'), named('UpdateBody')];
  const created = await sent(tokens.create('n', { ...all }));
  expect(names(created)).toEqual(made);
  expect(names(created.period_limits)).toEqual(named('PeriodLimitsChange'));
  expect(names(created.rate_limits)).toEqual(named('RateLimitsChange'));
  const many = await sent(tokens.createMany([{ ...all, name: 'n' }]));
  expect([names(many), names((many.tokens as object[])[0])]).toEqual([named('BulkCreateBody'), made]);
  const edited = await sent(tokens.update(7, changes));
  expect(names(edited)).toEqual(changed.filter((field) => field !== 'status'));
  const bulk = await sent(tokens.updateMany([7], { ...changes, status: 2 }));
  expect(names(bulk)).toEqual(named('BulkChangeBody'));
  expect(names(bulk.set)).toEqual(changed.filter((field) => field !== 'id'));
  const rotated = await sent(tokens.rotate(7, { graceSeconds: 0, graceFrom: 'now' }));
  expect(names(rotated)).toEqual(named('RotateBody'));
  const filters = { status: 1, state: 's', group: 'g', sort: 'id', order: 'asc' } as const;
  await sent(tokens.list(filters).next());
  const parameters: { name: string }[] = document.paths['/api/token/'].get.parameters;
  const known = parameters
    .map(({ name }) => name)
    .filter((name) => !['deleted', 'size', 'ps'].includes(name));
  expect([...query.keys()].sort()).toEqual(known.sort());
});

test.each([
  ['TokenBody', TOKEN],
  ['OldKeyBody', OLD_KEY],
  ['RotatedBody', ROTATED],
  ['PeriodLimitsBody', PERIOD_LIMITS],
  ['PeriodUsageBody', PERIOD_USAGE],
  ['PeriodBody', PERIOD_USE],
  ['RateLimitsBody', RATE_LIMITS],
])('%s has every field', (name, known) => {
  const names = Object.keys(known).filter((field) => field !== 'etag');
  expect(names.map(wireName).sort()).toEqual(named(name));
});

test('every code of a call for tokens has its error', () => {
  const answered = new Map<string, number>();
  for (const [method, path] of Object.values(TOKEN_CALLS)) {
    for (const [code, status] of codes(document.paths[path][method])) answered.set(code, status);
  }
  const known = [...TOKEN_CODES].map(([code, [status]]) => [code, status]);
  expect(known.sort()).toEqual([...answered].sort());
  for (const [, [status, kind]] of TOKEN_CODES) expect(kind === Unavailable).toBe(status >= 500);
});
