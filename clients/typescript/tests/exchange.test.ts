/** What is sent again, and when: answers that the real service does not give when asked. */

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { errorOf } from '../src/errors.ts';
import { newRequestId } from '../src/exchange.ts';
import { type Charged, Keymeter, NotAllowed, QuotaExhausted, Refused, Unavailable } from '../src/index.ts';

const CHARGED = {
  charged: 1,
  remain_quota: 2,
  request_id: 'r',
  token_id: 3,
  user_id: 4,
  name: 'n',
  group: 'g',
};

type Answer = () => Response;

const answer = (status: number, body: string, headers: Record<string, string> = {}): Answer => {
  const empty = status === 204 || body === '';
  return () => new Response(empty ? null : body, { status, headers });
};
const success = (data: unknown) => answer(200, JSON.stringify({ success: true, message: '', data }));
const failure = (status: number, error: string, retryAfter?: string) =>
  answer(status, JSON.stringify({ success: false, message: 'm', error }), {
    'x-request-id': 'x',
    ...(retryAfter === undefined ? {} : { 'retry-after': retryAfter }),
  });
const broken =
  (code?: string): Answer =>
  () => {
    throw new TypeError('fetch failed with sk-1', { cause: { code } });
  };

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** The outcome of a call, the bodies that were sent and the seconds between them. */
async function run<T>(ask: (km: Keymeter) => Promise<T>, ...answers: Answer[]) {
  // biome-ignore lint/suspicious/noExplicitAny: bodies are compared by each test
  const sent: any[] = [];
  const pauses: number[] = [];
  let last = 0;
  const km = new Keymeter({
    url: 'http://127.0.0.1:1/',
    credential: 'kmg_1',
    fetch: async (url, init) => {
      expect(url).toMatch(/^http:\/\/127\.0\.0\.1:1\/api\/gateway\/\w+$/);
      if (sent.length > 0) pauses.push((performance.now() - last) / 1000);
      last = performance.now();
      sent.push(JSON.parse(String(init.body)));
      const next = answers[sent.length - 1];
      if (!next) throw new Error('one request too many');
      return next();
    },
  });
  const asked = ask(km).catch((error: unknown) => error as Error);
  await vi.runAllTimersAsync();
  const outcome = await asked;
  expect(sent).toHaveLength(answers.length);
  return { outcome, sent, pauses };
}

const charge = (km: Keymeter) => km.charge('sk-1', { usd: '0.02' });

test('ids of requests are hexadecimal and ordered by time', () => {
  const ids = [1, 1_800_000_000_000, 1_800_000_000_001, 1_800_000_000_001].map((millisecond) => {
    vi.setSystemTime(millisecond);
    return newRequestId();
  });
  const times = ids.map((id) => id.slice(0, 12));
  expect(times).toEqual(['000000000001', '01a3185c5000', '01a3185c5001', '01a3185c5001']);
  expect(ids[2]).not.toBe(ids[3]);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/);
});

test('a try is repeated with the same body after pauses that double', async () => {
  const { outcome, sent, pauses } = await run(
    charge,
    broken('UND_ERR_SOCKET'),
    failure(503, 'ledger_busy'),
    success(CHARGED),
  );
  expect(outcome).toMatchObject({ charged: 1, tokenId: 3 });
  expect(sent[0]).toEqual({ key: 'sk-1', usd: '0.02', request_id: expect.stringMatching(/^[0-9a-f]{32}$/) });
  expect(sent[1]).toEqual(sent[0]);
  expect(sent[2]).toEqual(sent[0]);
  expect(pauses[0]).toBeGreaterThanOrEqual(0.049);
  expect(pauses[0]).toBeLessThanOrEqual(0.101);
  expect(pauses[1]).toBeGreaterThanOrEqual(0.099);
  expect(pauses[1]).toBeLessThanOrEqual(0.201);
});

test('two calls have two ids', async () => {
  const both = (km: Keymeter) => Promise.all([charge(km), charge(km)]);
  const { sent } = await run(both, success(CHARGED), success(CHARGED));
  expect(sent[0].request_id).not.toBe(sent[1].request_id);
});

test('Retry-After is waited for if there is time', async () => {
  const waited = await run(charge, failure(503, 'database_unavailable', '3'), success(CHARGED));
  expect(waited.outcome).toMatchObject({ charged: 1 });
  expect(waited.pauses[0]).toBeCloseTo(3, 1);
  const { outcome } = await run(charge, failure(503, 'database_unavailable', '30'));
  expect(outcome).toBeInstanceOf(Unavailable);
  expect(outcome).toMatchObject({
    status: 503,
    code: 'database_unavailable',
    retryAfter: 30,
    requestId: 'x',
    message: 'm',
  });
  expect(String(outcome)).toBe('database_unavailable: m');
  // A date is not read.
  const date = 'Tue, 24 Nov 2026 03:00:00 GMT';
  const { pauses } = await run(charge, failure(503, 'timeout', date), success(CHARGED));
  expect(pauses[0]).toBeLessThan(1);
});

test('three tries are all', async () => {
  const refused = Array<Answer>(3).fill(broken('ECONNREFUSED'));
  const none = await run(charge, ...refused);
  expect(none.outcome).toBeInstanceOf(Unavailable);
  expect(none.outcome).toMatchObject({ sent: false, message: 'no answer from Keymeter (ECONNREFUSED)' });
  const { outcome } = await run(charge, broken('ECONNRESET'), ...refused.slice(1));
  expect(outcome).toMatchObject({ sent: true });
  const unknown = await run(charge, ...Array<Answer>(3).fill(broken()));
  expect(unknown.outcome).toMatchObject({ sent: true, message: 'no answer from Keymeter (TypeError)' });
});

test('a try has two seconds, and all have ten', async () => {
  const started = performance.now();
  let tries = 0;
  const km = new Keymeter({
    url: 'http://127.0.0.1:1',
    credential: 'kmg_1',
    fetch: (_, { signal }) => {
      tries += 1;
      return new Promise((_, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason));
      });
    },
  });
  const asked = charge(km).catch((error: unknown) => error);
  await vi.runAllTimersAsync();
  expect(await asked).toMatchObject({ message: 'no answer from Keymeter (Timeout)', sent: true });
  expect(tries).toBe(3);
  const seconds = (performance.now() - started) / 1000;
  expect(seconds).toBeGreaterThan(6);
  expect(seconds).toBeLessThan(6.4);
});

test('an answer that is too long is none', async () => {
  const km = (fetch: () => Promise<Response>) =>
    new Keymeter({ url: 'http://127.0.0.1:1', credential: 'kmg_1', fetch });
  const part = new Uint8Array(1024 * 1024).fill(32);
  let sent = 0;
  const long = () =>
    new ReadableStream({
      pull(controller) {
        sent += 1;
        controller.enqueue(part);
      },
    });
  const asked = charge(km(async () => new Response(long()))).catch((error: unknown) => error);
  await vi.runAllTimersAsync();
  expect(await asked).toMatchObject({ message: 'no answer from Keymeter (the answer is too long)' });
  expect(sent).toBeLessThan(3 * 10);
});

test.each([failure(429, 'rate_limited', '1'), failure(402, 'token_exhausted'), failure(400, 'x')])(
  'a refusal is not repeated',
  async (refusal) => {
    const { outcome } = await run(charge, refusal);
    expect(outcome).toBeInstanceOf(Refused);
  },
);

test.each([
  [200, '', 1],
  [200, '<html>', 1],
  [200, '[]', 1],
  [200, 'null', 1],
  [200, '{"success":true}', 1],
  [200, '{"success":true,"data":[]}', 1],
  [200, '{"success":true,"data":{"charged":1}}', 1],
  [200, '{"success":1,"data":{}}', 1],
  [204, '', 1],
  [302, '', 1],
  [403, '{}', 1],
  [403, '{"success":false}', 1],
  [502, '<html>', 3],
  [504, '', 3],
])('an answer that is not of Keymeter is none: %s %s', async (status, body, tries) => {
  const { outcome } = await run(charge, ...Array<Answer>(tries).fill(answer(status, body)));
  expect(outcome).toBeInstanceOf(Unavailable);
  expect(outcome).toMatchObject({ status, message: expect.stringContaining('is KEYMETER_URL right?') });
});

test('a success with another status permits nothing', async () => {
  const body = JSON.stringify({ success: true, data: CHARGED });
  expect((await run(charge, answer(201, body))).outcome).toBeInstanceOf(Unavailable);
});

describe('of many charges', () => {
  const charged = { success: true, ...CHARGED };
  const busy = { success: false, error: 'ledger_busy', message: 'm' };
  const short = { success: false, error: 'token_exhausted', message: 'm' };
  const ask = (count: number) => (km: Keymeter) =>
    km.charges(Array.from({ length: count }, (_, quota) => ({ key: 'sk-1', quota })));

  test('only those without a decision are sent again', async () => {
    const waits = { ...busy, retry_after: 1 };
    const { outcome, sent, pauses } = await run(
      ask(4),
      success([charged, waits, short, waits]),
      success([waits, charged]),
      success([{ ...charged, charged: 9 }]),
    );
    const outcomes = outcome as Charged[];
    expect(outcomes.map((each) => each.charged)).toEqual([1, 9, undefined, 1]);
    expect(outcomes[2]).toBeInstanceOf(QuotaExhausted);
    const quotas = sent.map((body) => body.charges.map((each: { quota: number }) => each.quota));
    expect(quotas).toEqual([[0, 1, 2, 3], [1, 3], [1]]);
    expect(sent[2].charges[0]).toEqual(sent[0].charges[1]);
    for (const pause of pauses) expect(pause).toBeCloseTo(1, 1);
  });

  test('what was decided is kept if the rest cannot be', async () => {
    const decided = (outcome: unknown) =>
      (outcome as object[]).map((each) => (each instanceof Unavailable ? 'Unavailable' : 'Charged'));
    const refused = await run(ask(2), success([charged, busy]), broken(), failure(401, 'invalid_gateway'));
    expect(decided(refused.outcome)).toEqual(['Charged', 'Unavailable']);
    const never = await run(ask(2), success([charged, busy]), success([busy]), success([busy]));
    expect(decided(never.outcome)).toEqual(['Charged', 'Unavailable']);
    // Another number of outcomes than of charges.
    expect((await run(ask(2), success([busy]))).outcome).toBeInstanceOf(Unavailable);
  });
});

test('a code of a newer service is read by its status', () => {
  const of = (status?: number) => errorOf({ error: 'new', message: 'm' }, { status }).constructor;
  expect([402, 403, 418, 500, 599].map(of)).toEqual([
    QuotaExhausted,
    NotAllowed,
    Refused,
    Unavailable,
    Unavailable,
  ]);
  expect(of()).toBe(Refused);
});

test('unknown fields are ignored and missing ones are not', async () => {
  const settled = { charged: 1, shortfall: 0, expired: false, remain_quota: 2 };
  const settle = (km: Keymeter) => km.settle('r1.1', { quota: 1 });
  const { outcome } = await run(settle, success({ ...settled, new: 1 }));
  expect(outcome).toEqual({ charged: 1, shortfall: 0, expired: false, remainQuota: 2, pricedBy: '' });
  const { charged: _, ...without } = settled;
  expect((await run(settle, success(without))).outcome).toBeInstanceOf(Unavailable);
});

test('more requests than connections wait, and leave when their time is over', async () => {
  let running = 0;
  let most = 0;
  const answers: (() => void)[] = [];
  const km = new Keymeter({
    url: 'http://127.0.0.1:1',
    credential: 'kmg_1',
    fetch: async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise<void>((resolve) => answers.push(resolve));
      running -= 1;
      return success(CHARGED)();
    },
  });
  const stop = new AbortController();
  const asked = Array.from({ length: 20 }, (_, number) =>
    km
      .charge('sk-1', { quota: 1, signal: number === 19 ? stop.signal : undefined })
      .catch((error: unknown) => error as Error),
  );
  await vi.advanceTimersByTimeAsync(1900);
  expect([running, answers.length]).toEqual([16, 16]);
  stop.abort(new Error('enough'));
  expect(await asked[19]).toMatchObject({ message: 'enough' });
  // One connection is free: the first that waits has it.
  answers.shift()?.();
  await vi.advanceTimersByTimeAsync(50);
  expect(running).toBe(16);
  for (let turn = 0; turn < 40; turn += 1) {
    for (const give of answers.splice(0)) give();
    await vi.advanceTimersByTimeAsync(50);
  }
  const outcomes = await Promise.all(asked);
  expect(outcomes.filter((outcome) => !(outcome instanceof Error))).toHaveLength(19);
  expect([running, most]).toEqual([0, 16]);
});

test('a request that finds no connection in its time is a try', async () => {
  const km = new Keymeter({
    url: 'http://127.0.0.1:1',
    credential: 'kmg_1',
    fetch: () => new Promise(() => {}),
  });
  for (let number = 0; number < 16; number += 1) void km.charge('sk-1', { quota: 1 });
  const asked = km.charge('sk-1', { quota: 1 }).catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(9000);
  expect(await asked).toMatchObject({
    message: 'no answer from Keymeter (all connections are in use)',
    sent: false,
  });
});
