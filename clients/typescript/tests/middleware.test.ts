/** Hono and Express, each in a real server. */

import { once } from 'node:events';
import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { Hono } from 'hono';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import * as forExpress from '../src/express.ts';
import { currentSpend, keymeter } from '../src/hono.ts';
import { Keymeter, QuotaExhausted, refusalOf } from '../src/index.ts';
import { account, client, Lines, lossyProxy, service } from './context.ts';
import { freePort, type Key } from './service.ts';
import { expressSite, honoSite, Seen, type Site } from './sites.ts';
import { until } from './wait.ts';

// biome-ignore lint/suspicious/noExplicitAny: bodies are compared by each test
type Json = any;

/** The answer is sent before the settlement. */
async function endsAt(key: Key, quota: number, charges = 1): Promise<void> {
  const ended = async () => (await key.used()) === quota && (await key.charges()).length === charges;
  await until(`it is settled at ${quota}`, ended);
}

describe.each([
  ['hono', honoSite],
  ['express', expressSite],
])('%s', (name, makeSite) => {
  const seen = new Seen();
  const lines = new Lines();
  let km: Keymeter;
  let site: Site;

  beforeAll(async () => {
    km = new Keymeter({ ...service, log: lines.log });
    site = await makeSite(km, seen);
  });
  afterAll(async () => {
    await site.close();
    await km.close();
    expect(km.waiting).toBe(0);
  });

  const post = (path: string, key?: { readonly text: string }, init: RequestInit = {}) =>
    fetch(site.url + path, {
      method: 'POST',
      ...init,
      headers: {
        ...(key && { authorization: `Bearer ${key.text}` }),
        ...(init.body ? { 'content-type': 'application/json' } : {}),
        ...init.headers,
      },
    });
  const made = async (quota?: number, fields?: object) => (await account()).key(quota, fields);

  test('a request is charged what its handler told', async () => {
    const key = await made(100);
    const answer = await post('/work?cost=20', key);
    expect([answer.status, await answer.json()]).toEqual([200, { reserved: 50 }]);
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    expect(answer.headers.get('content-length')).toBe('15');
    await endsAt(key, 20);
    expect(await key.charges()).toMatchObject([{ model_name: 'gpt-5', prompt_tokens: 3 }]);
    const other = await post('/work?cost=5', undefined, { headers: { 'x-api-key': key.text } });
    expect(other.status).toBe(200);
    await endsAt(key, 25, 2);
  });

  test('a request without a cost is charged its hold', async () => {
    const key = await made(100);
    expect((await post('/work', key)).status).toBe(200);
    await endsAt(key, 50);
    expect((await post('/empty', key)).status).toBe(204);
    await endsAt(key, 100, 2);
  });

  test.each([
    ['/work?status=502', 502, 0, 0],
    ['/work?status=400&cost=20', 400, 20, 1],
    ['/breaks', 500, 0, 0],
    ['/breaks?cost=20', 500, 20, 1],
    ['/work?cost=many', 500, 50, 1],
    ['/nowhere', 404, 0, 0],
  ])('a request that fails is charged what was told: %s', async (path, status, quota, charges) => {
    const key = await made(100);
    expect((await post(path, key)).status).toBe(status);
    await endsAt(key, quota, charges);
  });

  test.each([
    ['', 10],
    ['?told=false', 50],
  ])('a stream is charged when it was sent: %s', async (query, quota) => {
    const key = await made(100);
    expect(await (await post(`/stream${query}`, key)).text()).toHaveLength(20_000);
    await endsAt(key, quota);
  });

  test.each([true, false])(
    'a client that leaves a stream is charged what was told, %s, or the hold',
    async (told) => {
      const key = await made(100_000);
      const streams = seen.streams;
      const stop = new AbortController();
      const answer = await post(`/stream?count=2000&told=${told}`, key, { signal: stop.signal });
      await answer.body?.getReader().read();
      stop.abort();
      await until('the stream ends', () => seen.streams === streams + 1);
      await until('it is settled', async () => (await key.charges()).length === 1);
      const used = await key.used();
      if (told) {
        expect(used).toBeGreaterThan(0);
        expect(used).toBeLessThan(2000);
      } else {
        expect(used).toBe(50);
      }
      expect(await key.charges()).toMatchObject([{ quota: used }]);
    },
  );

  test('a stream that breaks is charged what was told', async () => {
    const key = await made(100);
    // The server of Hono says it, and may answer 500 instead, if nothing was sent yet.
    vi.spyOn(console, 'error').mockImplementation(() => undefined);
    onTestFinished(() => void vi.restoreAllMocks());
    const answer = await post('/stream?breaks=1', key);
    await answer.text().catch(() => undefined);
    await endsAt(key, 2);
  });

  test.each([
    ['?cost=20', 20, 1],
    ['', 50, 1],
    ['?breaks=1', 0, 0],
    ['?breaks=1&cost=20', 20, 1],
  ])('a client that leaves before the answer pays for the work: %s', async (query, quota, charges) => {
    const key = await made(100);
    const stop = new AbortController();
    const waiting = seen.waiting;
    const asked = post(`/slow${query}`, key, { signal: stop.signal });
    await until('it works', () => seen.waiting === waiting + 1);
    stop.abort();
    await expect(asked).rejects.toThrow('aborted');
    expect(await key.used()).toBe(50);
    seen.goOn();
    await endsAt(key, quota, charges);
  });

  test('a client that leaves while its request is held pays for the work', async () => {
    const key = await made(100);
    const proxy = await lossyProxy();
    const { url } = await otherSite({ url: proxy.url });
    const stop = new AbortController();
    proxy.stalls = true;
    const headers = { authorization: `Bearer ${key.text}` };
    const asked = fetch(`${url}/work?cost=20`, { method: 'POST', headers, signal: stop.signal });
    await until('it is held', async () => (await key.used()) === 50);
    stop.abort();
    await expect(asked).rejects.toThrow('aborted');
    proxy.stalls = false;
    await endsAt(key, 20);
  });

  test('a route may hold for itself', async () => {
    const key = await made(100);
    expect(await (await post('/own', key)).json()).toBe(10);
    await endsAt(key, 4);
    expect(await (await post('/own/fixed', key)).json()).toBe(7);
    await endsAt(key, 11, 2);
    const body = JSON.stringify({ max_tokens: 30, model: 'o1' });
    expect(await (await post('/own/body', key, { body })).json()).toEqual({ max_tokens: 30, reserved: 30 });
    await endsAt(key, 12, 3);
    const tooMuch = JSON.stringify({ max_tokens: 300, model: 'o1' });
    const refused = await post('/own/body', key, { body: tooMuch });
    expect([refused.status, ((await refused.json()) as Json).error.code]).toEqual([
      402,
      'token_quota_insufficient',
    ]);
    // A mistake of the program; the hold of the first is given back.
    expect((await post('/own/twice', key)).status).toBe(500);
    await endsAt(key, 12, 3);
  });

  test('what has no hold needs no key', async () => {
    expect(await (await fetch(`${site.url}/free`)).json()).toBe('free');
    expect((await fetch(`${site.url}/free/none`)).status).toBe(500);
  });

  const NO_RETRY = { 'x-should-retry': 'false' };

  test.each<[string, object, number, string, Record<string, string | null>]>([
    ['invalid_api_key', {}, 401, 'invalid_request_error', { ...NO_RETRY, 'retry-after': null }],
    ['token_quota_insufficient', { remain_quota: 49 }, 402, 'insufficient_quota', NO_RETRY],
    ['model_not_allowed', { models: ['o1'] }, 403, 'permission_error', NO_RETRY],
    ['ip_not_allowed', { allow_ips: '10.0.0.1' }, 403, 'permission_error', NO_RETRY],
    [
      'token_period_exceeded',
      { period_limits: { day: 49 } },
      429,
      'rate_limit_error',
      { ...NO_RETRY, 'retry-after': null },
    ],
    [
      'rate_limited',
      { rate_limits: { requests_per_minute: 1 } },
      429,
      'rate_limit_error',
      { 'x-should-retry': null },
    ],
    [
      'too_many_concurrent',
      { rate_limits: { concurrency: 1 } },
      429,
      'rate_limit_error',
      { 'x-should-retry': null },
    ],
  ])('a refused client is told in the shape of OpenAI: %s', async (code, fields, status, type, headers) => {
    const quota = 'remain_quota' in fields ? { unlimited_quota: false } : {};
    const key =
      code === 'invalid_api_key' ? { text: 'sk-none' } : await made(undefined, { ...quota, ...fields });
    if (code === 'rate_limited') await post('/work?cost=0', key);
    if (code === 'too_many_concurrent') await km.reserve(key.text, { quota: 1 });
    const answer = await post('/work', key);
    expect(answer.status).toBe(status);
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    const { error } = (await answer.json()) as Json;
    expect(error).toEqual({ type, code, param: null, message: expect.stringMatching(/^[a-z]/) });
    for (const [header, value] of Object.entries(headers)) expect(answer.headers.get(header)).toBe(value);
    if (type === 'rate_limit_error' && !headers['x-should-retry']) {
      const seconds = Number(answer.headers.get('retry-after'));
      expect(seconds).toBeGreaterThanOrEqual(1);
      expect(seconds).toBeLessThanOrEqual(60);
    }
  });

  test('a limit that renews says when', async () => {
    const key = await made(undefined, { period_limits: { day: 60 } });
    await post('/work?cost=30', key);
    await endsAt(key, 30);
    const answer = await post('/work', key);
    expect([answer.status, ((await answer.json()) as Json).error.code]).toEqual([
      429,
      'token_period_exceeded',
    ]);
    expect(answer.headers.get('x-should-retry')).toBe('false');
    expect(Number(answer.headers.get('retry-after'))).toBeLessThanOrEqual(86_400);
  });

  test.each<Record<string, string>>([
    {},
    { authorization: 'Basic sk-1' },
    { authorization: 'Bearer' },
    { 'x-api-key': '' },
  ])('a request without a key is refused: %o', async (headers) => {
    const answer = await post('/work', undefined, { headers });
    expect([answer.status, ((await answer.json()) as Json).error.code]).toEqual([401, 'invalid_api_key']);
  });

  test('the address is that of the connection, and not what a header says', async () => {
    const key = await made(undefined, { allow_ips: '127.0.0.1' });
    expect((await post('/work?cost=0', key)).status).toBe(200);
    const listed = await made(undefined, { allow_ips: '192.0.2.1' });
    const headers = { 'x-forwarded-for': '192.0.2.1', 'cf-connecting-ip': '192.0.2.1' };
    expect((await post('/work', listed, { headers })).status).toBe(403);
  });

  test("a refusal of the handler's own call is answered too", async () => {
    const key = await made(5);
    const charges = () => fetch(`${site.url}/free/charges?key=${key.text}`);
    expect(await (await charges()).json()).toBe(3);
    const answer = await charges();
    expect([answer.status, ((await answer.json()) as Json).error.code]).toEqual([
      402,
      'token_quota_insufficient',
    ]);
  });

  async function otherSite(options: object): Promise<Site> {
    const site = await makeSite(client({ log: lines.log, ...options }), seen);
    onTestFinished(() => site.close());
    return site;
  }

  test('without Keymeter there is no answer', async () => {
    const { url } = await otherSite({ url: `http://127.0.0.1:${await freePort()}` });
    const headers = { authorization: 'Bearer sk-1' };
    const answer = await fetch(`${url}/work`, { method: 'POST', headers });
    expect(answer.status).toBe(503);
    expect(((await answer.json()) as Json).error).toMatchObject({
      type: 'api_error',
      code: 'keymeter_unavailable',
    });
    expect(answer.headers.get('retry-after')).toBe('2');
  });

  test('a wrong credential is told to the log and not to the client', async () => {
    const { url } = await otherSite({ credential: 'kmg_wrong' });
    const headers = { authorization: 'Bearer sk-1' };
    const answer = await fetch(`${url}/work`, { method: 'POST', headers });
    expect(answer.status).toBe(500);
    expect(await answer.json()).toEqual({
      error: {
        message: 'this gateway is misconfigured; tell its operator',
        type: 'api_error',
        param: null,
        code: 'keymeter_misconfigured',
      },
    });
    expect(lines.text).toContain('uses Keymeter wrongly: invalid_gateway');
  });

  test('the log has no key', async () => {
    expect(lines.lines.length).toBeGreaterThan(0);
    expect(lines.text).not.toContain('sk-');
    expect(name).toBeTruthy();
  });
});

test('a connection without an address does not pass a list of addresses', async () => {
  const app = new Hono();
  app.use(keymeter(client(), '0.00002'));
  app.get('/', (c) => c.text('it works'));
  const listed = await (await account()).key(undefined, { allow_ips: '10.0.0.1\n::1' });
  const free = await (await account()).key();
  const get = (key: Key, env?: object) =>
    app.request('/', { headers: { authorization: `bearer ${key.text}` } }, env);
  expect((await get(listed)).status).toBe(403);
  expect((await get(free)).status).toBe(200);
  // As Node.js, Deno and Bun give it to Hono.
  for (const address of ['::1', '::1%eth0', '::ffff:10.0.0.1']) {
    expect((await get(listed, { incoming: { socket: { remoteAddress: address } } })).status).toBe(200);
  }
  expect((await get(listed, { remoteAddr: { hostname: '10.0.0.1' } })).status).toBe(200);
  expect((await get(listed, { requestIP: () => ({ address: '10.0.0.1' }) })).status).toBe(200);
  expect((await get(listed, { requestIP: () => null })).status).toBe(403);
});

test.each(['cancels the body', 'aborts the request'])(
  'a server of Hono whose client leaves %s',
  async (how) => {
    const app = new Hono();
    app.use(keymeter(client(), '0.0001'));
    let told = 0;
    app.get('/', (c) => {
      const body = new ReadableStream({
        pull(controller) {
          currentSpend(c).cost({ quota: 3 });
          controller.enqueue('part');
          told += 1;
        },
        cancel: () => currentSpend(c).cost({ quota: 1 }),
      });
      return c.body(body);
    });
    const key = await (await account()).key(100);
    const stop = new AbortController();
    const headers = { authorization: `Bearer ${key.text}` };
    const answer = await app.request('/', { headers, signal: stop.signal });
    await until('the stream began', () => told > 0);
    if (how === 'cancels the body') await answer.body?.cancel();
    else stop.abort();
    await until('it is settled', async () => (await key.charges()).length === 1);
    // What the stream told when it was cancelled too.
    expect(await key.used()).toBe(3 * told + 1);
  },
);

test('an address may come from elsewhere', async () => {
  const app = new Hono();
  app.use(keymeter(client(), '0.00002', { ip: (c) => c.req.header('x-real-ip') }));
  app.get('/', (c) => c.text('it works'));
  const key = await (await account()).key(undefined, { allow_ips: '10.0.0.1' });
  const get = (address: string) =>
    app.request('/', { headers: { authorization: `Bearer ${key.text}`, 'x-real-ip': address } });
  expect((await get('10.0.0.1')).status).toBe(200);
  expect((await get('10.0.0.2')).status).toBe(403);
});

// As a proxy says them to Express's `trust proxy`, or to Hono's `ip`.
const READABLE = [
  '203.0.113.7',
  '203.0.113.7:61598',
  '[203.0.113.7]:61598',
  '::ffff:203.0.113.7',
  '::FFFF:203.0.113.7:61598',
  '[::ffff:203.0.113.7]:61598',
  '::ffff:cb00:7107',
  '2001:db8::7',
  '[2001:db8::7]',
  '[2001:DB8::7]:61598',
  '[2001:db8:0:0:0:0:0:7]:0',
  'fe80::7%eth0',
  '[fe80::7%eth0]:61598',
];
const UNREADABLE = [
  ':',
  ':61598',
  '[]:61598',
  '[203.0.113.7',
  '203.0.113.7]:61598',
  '203.0.113.7:',
  '203.0.113.7:port',
  '203.0.113.7:615980',
  '203.0.113.7:1:2',
  '203.0.113.7%eth0',
  '203.0.113.07',
  '203.0.113.256',
  '203.0.113.7.',
  '203.0.113',
  '0xcb.0.113.7',
  '3405803783',
  '203.0.113.7/32',
  '2001:db8::7::',
  '2001:db8::7]@[::1',
  'fe80::7%',
  'localhost',
  'unknown',
  'undefined',
  'unix:/run/site.sock',
  'udp://203.0.113.7:61598',
  '1'.repeat(10_000),
];
const LIST = { allow_ips: '203.0.113.7\n2001:db8::7\nfe80::7' };

/** What these keys are answered from each address, in order. */
async function statuses(
  addresses: readonly unknown[],
  keys: readonly Key[],
  ask: (address: never, headers: Record<string, string>) => Promise<Response>,
): Promise<unknown[]> {
  const answers = [];
  for (const address of addresses) {
    const asked = keys.map((key) => ask(address as never, { authorization: `Bearer ${key.text}` }));
    answers.push([address, ...(await Promise.all(asked)).map(({ status }) => status)]);
  }
  return answers;
}

test('in Express, an address may have a port, and one that cannot be read is in no list', async () => {
  const app = express();
  app.set('trust proxy', true);
  app.use(forExpress.keymeter(client(), '0.00002'));
  app.get('/', (_, res) => void res.end('it works'));
  const server = app.listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const ask = (address: string, headers: object) =>
    fetch(url, { headers: { ...headers, 'x-forwarded-for': address } });
  const person = await account();
  const other = { allow_ips: '203.0.113.8' };
  const keys = [await person.key(undefined, LIST), await person.key(), await person.key(undefined, other)];
  expect(await statuses(READABLE, keys, ask)).toEqual(READABLE.map((address) => [address, 200, 200, 403]));
  expect(await statuses(UNREADABLE, keys, ask)).toEqual(
    UNREADABLE.map((address) => [address, 403, 200, 403]),
  );
});

test('in Hono, an address may have a port, and one that cannot be read is in no list', async () => {
  const person = await account();
  const keys = [await person.key(undefined, LIST), await person.key()];
  const elsewhere = new Hono().use(
    keymeter(client(), '0.00002', { ip: (c) => (c.env as { address: string }).address }),
  );
  elsewhere.get('/', (c) => c.text('it works'));
  const connected = new Hono().use(keymeter(client(), '0.00002'));
  connected.get('/', (c) => c.text('it works'));
  const unreadable = [...UNREADABLE, '', undefined, null, 7, ['203.0.113.7']];
  for (const ask of [
    (address: unknown, headers: Record<string, string>) => elsewhere.request('/', { headers }, { address }),
    (remoteAddress: unknown, headers: Record<string, string>) =>
      connected.request('/', { headers }, { incoming: { socket: { remoteAddress } } }),
  ]) {
    const asks = async (address: never, headers: Record<string, string>) => ask(address, headers);
    expect(await statuses(READABLE, keys, asks)).toEqual(READABLE.map((address) => [address, 200, 200]));
    expect(await statuses(unreadable, keys, asks)).toEqual(unreadable.map((address) => [address, 403, 200]));
  }
});

test('in Express, a WebSocket with a hold is refused', async () => {
  const app = express();
  app.use(forExpress.keymeter(client(), '0.00002'));
  app.get('/', (_, res) => void res.end('it works'));
  const server = app.listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const key = await (await account()).key(10);
  for (const upgrade of ['websocket', 'h2c, WebSocket']) {
    const headers = { authorization: `Bearer ${key.text}`, connection: 'upgrade', upgrade };
    const asked = request({ port: (server.address() as AddressInfo).port, headers }).end();
    const [answer] = await once(asked, 'response');
    expect(answer.statusCode).toBe(403);
    answer.destroy();
  }
  expect(await key.used()).toBe(0);
});

test('a WebSocket with a hold is refused and one without is passed on', async () => {
  const app = new Hono();
  app.use('/held', keymeter(client(), '0.00002'));
  app.use(
    '/free',
    keymeter(client(), () => undefined),
  );
  app.get('*', (c) => c.text('it works'));
  const key = await (await account()).key(10);
  for (const upgrade of ['WebSocket', 'h2c, websocket', 'websocket/13']) {
    const headers = { authorization: `Bearer ${key.text}`, upgrade };
    expect((await app.request('/held', { headers })).status).toBe(403);
    expect((await app.request('/free', { headers })).status).toBe(200);
  }
  expect(await key.used()).toBe(0);
});

test('a worker is told to wait for the settlement', async () => {
  const app = new Hono();
  app.use(keymeter(client(), '0.00002'));
  app.get('/', (c) => c.text('it works'));
  const key = await (await account()).key(100);
  const waits: Promise<unknown>[] = [];
  const context = { waitUntil: (wait: Promise<unknown>) => waits.push(wait) };
  const headers = { authorization: `Bearer ${key.text}` };
  const request = new Request('http://localhost/', { headers });
  const answer = await app.fetch(request, {}, context as never);
  expect(waits).toHaveLength(1);
  expect(await key.charges()).toEqual([]);
  await answer.text();
  await Promise.all(waits);
  expect(await key.charges()).toHaveLength(1);
});

test('other frameworks answer with the refusal', () => {
  const error = new QuotaExhausted(402, 'token_exhausted', 'it is empty');
  expect(refusalOf(error)).toEqual({
    status: 402,
    headers: { 'x-should-retry': 'false' },
    body: {
      error: { message: 'it is empty', type: 'insufficient_quota', param: null, code: 'token_exhausted' },
    },
  });
});
