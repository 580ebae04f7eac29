/** The calls for one's own tokens: what is sent again, and how lists are read, with answers that no service has to give. */

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { BadRequest, Conflict, KeymeterTokens, NotFound, TokenChanged, Unavailable } from '../src/index.ts';

const USE = { limit: -1, used: 0, remaining: -1, resets_at: 9 };

function token(id: number, fields: object = {}): object {
  return {
    id,
    user_id: 1,
    key: '',
    masked_key: 'sk-ab12**********wxyz',
    status: 1,
    state: 'working',
    name: 'n',
    note: '',
    created_time: 1,
    accessed_time: 1,
    expired_time: -1,
    remain_quota: 5,
    unlimited_quota: false,
    used_quota: 0,
    period_limits: { day: -1, week: -1, month: -1 },
    period_usage: { day: USE, week: USE, month: USE },
    rate_limits: { requests_per_minute: -1, tokens_per_minute: -1, concurrency: -1 },
    model_limits_enabled: false,
    model_limits: '',
    allow_ips: '',
    group: '',
    cross_group_retry: false,
    show_addresses: false,
    ...fields,
  };
}

type Answer = () => Response;

const success =
  (data?: unknown, etag = '"1"'): Answer =>
  () =>
    new Response(JSON.stringify({ success: true, message: '', data }), { headers: { etag } });
const failure =
  (status: number, error: string, fields: object = {}): Answer =>
  () =>
    new Response(JSON.stringify({ success: false, message: 'm', error, ...fields }), {
      status,
      headers: { etag: '"2"', 'x-request-id': 'x' },
    });
const broken =
  (code: string): Answer =>
  () => {
    throw new TypeError('fetch failed', { cause: { code } });
  };
const LOST = broken('UND_ERR_SOCKET');
const NOWHERE = broken('ECONNREFUSED');

interface Sent {
  readonly method: string | undefined;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string | undefined;
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** The outcome of a call, and what was sent. */
async function run<T>(ask: (tokens: KeymeterTokens) => Promise<T>, ...answers: Answer[]) {
  const sent: Sent[] = [];
  const tokens = new KeymeterTokens({
    url: 'http://127.0.0.1:1',
    accessToken: 'kma_1',
    fetch: async (url, { method, headers, body }) => {
      const path = url.replace('http://127.0.0.1:1', '');
      sent.push({
        method,
        path,
        headers: headers as Record<string, string>,
        body: body as string | undefined,
      });
      const next = answers[sent.length - 1];
      if (!next) throw new Error('one request too many');
      return next();
    },
  });
  const asked = ask(tokens).catch((error: unknown) => error as Error);
  await vi.runAllTimersAsync();
  const outcome = await asked;
  expect(sent).toHaveLength(answers.length);
  return { outcome, sent };
}

test.each<[string, string, (tokens: KeymeterTokens) => Promise<unknown>, Answer]>([
  ['POST', '/api/token/', (tokens) => tokens.create('n'), success(token(7, { key: 'sk-1' }))],
  ['POST', '/api/token/bulk', (tokens) => tokens.createMany([{ name: 'n' }]), success([token(7)])],
  ['PUT', '/api/token/', (tokens) => tokens.update(7, { note: 'x' }), success(token(7))],
  ['PATCH', '/api/token/bulk', (tokens) => tokens.updateMany([7], { status: 2 }), success([token(7)])],
  [
    'POST',
    '/api/token/7/rotate',
    (tokens) => tokens.rotate(7),
    success({ id: 7, key: 'sk-2', masked_key: 'm', old_keys: [] }),
  ],
])('all tries of a call have its own key: %s %s', async (method, path, ask, answer) => {
  const { outcome, sent } = await run(ask, LOST, failure(503, 'timeout'), answer);
  expect(outcome).not.toBeInstanceOf(Error);
  for (const each of sent) expect([each.method, each.path, each.body]).toEqual([method, path, sent[0]?.body]);
  const keys = new Set(sent.map(({ headers }) => headers['idempotency-key']));
  expect([...keys]).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/)]);
  const other = await run(ask, answer);
  expect(keys.has(other.sent[0]?.headers['idempotency-key'])).toBe(false);
});

test('a key of the caller is sent', async () => {
  const { sent } = await run(
    (tokens) => tokens.rotate(7, { graceSeconds: 0, graceFrom: 'now', idempotencyKey: 'mine' }),
    failure(409, 'token_expired'),
  );
  expect(sent[0]?.headers['idempotency-key']).toBe('mine');
  expect(JSON.parse(sent[0]?.body ?? '')).toEqual({ grace_seconds: 0, grace_from: 'now' });
});

test('an update sends the fields that are named, and its version', async () => {
  const changes = {
    note: '',
    remainQuota: undefined,
    allowIps: ['10.0.0.0/8', '::1'],
    modelLimits: ['a', 'b'],
    rateLimits: { tokensPerMinute: 9 },
    another: 'of the caller',
  };
  const { outcome, sent } = await run(
    (tokens) => tokens.update(7, { ...changes, ifMatch: '"1"' }),
    success(token(7), '"2"'),
  );
  expect(JSON.parse(sent[0]?.body ?? '')).toEqual({
    id: 7,
    note: '',
    allow_ips: '10.0.0.0/8\n::1',
    model_limits: ['a', 'b'],
    rate_limits: { tokens_per_minute: 9 },
  });
  expect(sent[0]?.headers['if-match']).toBe('"1"');
  expect(outcome).toMatchObject({ etag: '"2"', rateLimits: { tokensPerMinute: -1 } });
  const unchecked = await run((tokens) => tokens.update(7, {}), success(token(7)));
  expect(unchecked.sent[0]?.headers).not.toHaveProperty('if-match');
});

test('a changed token says its present version', async () => {
  const { outcome } = await run(
    (tokens) => tokens.update(7, { ifMatch: '"1"', note: 'x' }),
    failure(412, 'token_changed'),
  );
  expect(outcome).toBeInstanceOf(TokenChanged);
  expect(outcome).toMatchObject({ etag: '"2"', status: 412, requestId: 'x' });
});

test.each<[string, (tokens: KeymeterTokens) => Promise<unknown>]>([
  ['came from a list', (tokens) => tokens.update(7, { ifMatch: '' })],
  ['came from a list', (tokens) => tokens.delete(7, { ifMatch: '' })],
  ['printable ASCII', (tokens) => tokens.update(7, { ifMatch: 'é' })],
  ['printable ASCII', (tokens) => tokens.update(7, { ifMatch: '"1"\r\nX-Other: 1' })],
  ['printable ASCII', (tokens) => tokens.create('n', { idempotencyKey: '' })],
  ['printable ASCII', (tokens) => tokens.create('n', { idempotencyKey: 'x'.repeat(256) })],
  ['whole number', (tokens) => tokens.get('7/rotate' as unknown as number)],
  ['whole number', (tokens) => tokens.updateMany([7.5], {})],
  ['remainQuota must be a number', (tokens) => tokens.create('n', { remainQuota: Number.NaN })],
  ['day must be a number', (tokens) => tokens.create('n', { periodLimits: { day: Number.NaN } })],
])('what cannot be meant is not sent: %s', async (said, ask) => {
  const { outcome } = await run(ask);
  expect(outcome).toBeInstanceOf(RangeError);
  expect(String(outcome)).toContain(said);
});

test('a deletion without an answer was carried out if nothing is there', async () => {
  const gone = failure(404, 'not_found');
  expect((await run((tokens) => tokens.delete(7), LOST, gone)).outcome).toBeUndefined();
  expect((await run((tokens) => tokens.endOldKey(7, 3), LOST, gone)).outcome).toBeUndefined();
  expect((await run((tokens) => tokens.delete(7), gone)).outcome).toBeInstanceOf(NotFound);
  expect((await run((tokens) => tokens.delete(7), NOWHERE, gone)).outcome).toBeInstanceOf(NotFound);
  const changed = await run(
    (tokens) => tokens.delete(7, { ifMatch: '"1"' }),
    LOST,
    failure(412, 'token_changed'),
  );
  expect(changed.outcome).toBeInstanceOf(TokenChanged);
});

test('a restoration without an answer is looked up', async () => {
  const gone = failure(404, 'not_found');
  const { outcome, sent } = await run((tokens) => tokens.restore(7), LOST, gone, success(token(7), '"3"'));
  expect(outcome).toMatchObject({ id: 7, etag: '"3"' });
  expect(sent.map(({ path }) => path)).toEqual([
    '/api/token/7/restore',
    '/api/token/7/restore',
    '/api/token/7/details',
  ]);
  expect((await run((tokens) => tokens.restore(7), gone)).outcome).toBeInstanceOf(NotFound);
});

test('a refusal says which of many tokens is the reason', async () => {
  const bad = await run(
    (tokens) => tokens.createMany([{ name: '' }]),
    failure(400, 'invalid_name', { index: 0 }),
  );
  expect(bad.outcome).toBeInstanceOf(BadRequest);
  expect(bad.outcome).toMatchObject({ index: 0, tokenId: undefined });
  const poor = await run(
    (tokens) => tokens.updateMany([7], { addQuota: -9 }),
    failure(409, 'insufficient_quota', { id: 7 }),
  );
  expect(poor.outcome).toBeInstanceOf(Conflict);
  expect(poor.outcome).toMatchObject({ index: undefined, tokenId: 7 });
});

test('a refusal with status 200, by the setting `http.errors_as_200`, is one', async () => {
  const { outcome } = await run((tokens) => tokens.get(7), failure(200, 'not_found'));
  expect(outcome).toBeInstanceOf(NotFound);
  expect(outcome).toMatchObject({ status: 404 });
});

test.each([undefined, [], { id: 7 }, 'sk-1', { items: [], total: null }])(
  'an answer that is not one of Keymeter is none: %j',
  async (data) => {
    const calls: ((tokens: KeymeterTokens) => Promise<unknown>)[] = [
      (tokens) => tokens.get(7),
      (tokens) => tokens.reveal(7),
      (tokens) => tokens.create('n'),
      (tokens) => tokens.rotate(7),
      (tokens) => tokens.list().next(),
    ];
    for (const call of calls) {
      const { outcome } = await run(call, success(data));
      expect(outcome).toBeInstanceOf(Unavailable);
      expect(String(outcome)).toContain('is KEYMETER_URL right?');
    }
  },
);

describe('a list', () => {
  /** A service with tokens, newest first, and a client for it. */
  function service(count: number) {
    const ids = Array.from({ length: count }, (_, index) => count - index);
    const known = { ids, requests: 0 };
    const tokens = new KeymeterTokens({
      url: 'http://127.0.0.1:1',
      accessToken: 'kma_1',
      fetch: async (url) => {
        known.requests += 1;
        const query = new URL(url).searchParams;
        const size = Number(query.get('page_size'));
        const begin = (Number(query.get('p')) - 1) * size;
        const items = ids.slice(begin, begin + size).map((id) => token(id));
        return success({ page: 1, page_size: size, total: ids.length, items })();
      },
    });
    return { known, tokens };
  }

  test.each([0, 1, 99, 100, 101, 250])('of %i tokens has each once', async (count) => {
    const { known, tokens } = service(count);
    const seen: number[] = [];
    for await (const { id } of tokens.list()) seen.push(id);
    expect(seen).toEqual(known.ids);
    expect(known.requests).toBe(Math.floor(count / 100) + 1);
  });

  test.each([100, 101, 200, 250, 430].flatMap((count) => [1, 2, 3].map((nth) => [count, nth] as const)))(
    'of %i tokens has each once while every %i. is deleted',
    async (count, nth) => {
      const { known, tokens } = service(count);
      const seen: number[] = [];
      for await (const { id } of tokens.list()) {
        seen.push(id);
        if (seen.length % nth === 0) known.ids.splice(known.ids.indexOf(id), 1);
      }
      expect(seen.sort((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, index) => index + 1));
    },
  );

  test('has no token twice while others are created', async () => {
    const { known, tokens } = service(250);
    const before = [...known.ids];
    const seen: number[] = [];
    for await (const { id } of tokens.list()) {
      seen.push(id);
      if (seen.length % 50 === 0) known.ids.unshift(1000 + seen.length);
    }
    expect(seen).toEqual(before);
  });

  test('ends with its signal', async () => {
    const { tokens } = service(250);
    const control = new AbortController();
    const read = async () => {
      for await (const { id } of tokens.list({ signal: control.signal }))
        if (id === 151) control.abort('enough');
    };
    await expect(read()).rejects.toBe('enough');
  });
});
