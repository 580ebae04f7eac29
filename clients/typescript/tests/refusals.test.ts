/** Each refusal of the service becomes its error. */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import {
  BadRequest,
  Conflict,
  InvalidGateway,
  InvalidKey,
  type Keymeter,
  LimitExceeded,
  NotAllowed,
  QuotaExhausted,
  RateLimited,
  Refused,
  Unavailable,
} from '../src/index.ts';
import { account, administration, client, service } from './context.ts';
import type { Key } from './service.ts';
import { until } from './wait.ts';

const now = () => Date.now() / 1000;

async function exhausted(): Promise<Key> {
  const key = await (await account()).key(3);
  await client().charge(key.text, { quota: 3 });
  return key;
}

async function disabled(): Promise<Key> {
  const key = await (await account()).key();
  await key.disable();
  return key;
}

async function expired(): Promise<Key> {
  const end = Math.floor(now()) + 1;
  const key = await (await account()).key(undefined, { expired_time: end });
  await until('it has expired', () => now() > end + 1.1);
  return key;
}

async function ofADisabledAccount(): Promise<Key> {
  const other = await administration.account(100);
  const key = await other.key();
  await administration.root('PATCH', `/api/admin/users/${other.userId}`, { status: 2 });
  return key;
}

async function ofAForeignGroup(): Promise<Key> {
  const other = await administration.account(100, { group: 'vip' });
  const key = await other.key(undefined, { group: 'vip' });
  await administration.root('PATCH', `/api/admin/users/${other.userId}`, { group: 'default' });
  return key;
}

async function busy(): Promise<Key> {
  const key = await (await account()).key(undefined, { rate_limits: { concurrency: 1 } });
  await client().reserve(key.text, { quota: 1 });
  return key;
}

const keyOf = (remain?: number, fields?: object) => async () => (await account()).key(remain, fields);
const poor = (wallet: number, fields?: object) => async () =>
  (await administration.account(wallet, fields)).key();

test.each([
  ['invalid_key', 401, InvalidKey, async () => ({ text: 'sk-none' })],
  ['token_exhausted', 402, QuotaExhausted, exhausted],
  ['token_quota_insufficient', 402, QuotaExhausted, keyOf(4)],
  ['user_quota_insufficient', 402, QuotaExhausted, poor(4)],
  ['token_disabled', 403, NotAllowed, disabled],
  ['token_expired', 403, NotAllowed, expired],
  ['user_disabled', 403, NotAllowed, ofADisabledAccount],
  ['group_not_allowed', 403, NotAllowed, ofAForeignGroup],
  ['model_not_allowed', 403, NotAllowed, keyOf(undefined, { models: ['o1'] })],
  ['ip_not_allowed', 403, NotAllowed, keyOf(undefined, { allow_ips: '10.0.0.0/8' })],
  ['token_period_exceeded', 429, LimitExceeded, keyOf(undefined, { period_limits: { day: 4 } })],
  ['user_period_exceeded', 429, LimitExceeded, poor(100, { period_limits: { week: 4 } })],
  ['rate_limited', 429, RateLimited, keyOf(undefined, { rate_limits: { requests_per_minute: 0 } })],
  ['too_many_concurrent', 429, RateLimited, busy],
])('a key that may not be used is refused: %s', async (code, status, kind, make) => {
  const key = await make();
  const options = { quota: 5, model: 'gpt-5', ip: '192.0.2.1' };
  const error = await client()
    .spend(key.text, options, () => expect.fail('the work began'))
    .catch((error: unknown) => error);
  expect(error).toBeInstanceOf(kind);
  expect(error).toBeInstanceOf(Refused);
  const refused = error as Refused;
  expect(refused).toMatchObject({ name: kind.name, code, status });
  expect(refused.requestId).toBeTruthy();
  expect(refused.message).toMatch(/^[a-z]/);
  expect(String(refused)).toBe(`${code}: ${refused.message}`);
});

test('a limit of a period has its figures', async () => {
  const km = client();
  const key = await (await account()).key(undefined, { period_limits: { day: 10 } });
  await km.charge(key.text, { quota: 7 });
  const limited = async (quota: number) => {
    const error = await km.charge(key.text, { quota }).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(LimitExceeded);
    return error as LimitExceeded;
  };
  const error = await limited(4);
  expect(error).toMatchObject({ period: 'day', limit: 10, used: 7 });
  expect(Math.abs(now() + (error.retryAfter ?? 0) - (error.resetsAt ?? 0))).toBeLessThan(5);
  expect((await limited(11)).retryAfter).toBeUndefined();
});

test('a verification says why a key may not be used', async () => {
  const km = client();
  const key = await (await account()).key(undefined, { models: ['o1'] });
  const verified = await km.verify(key.text, { model: 'gpt-5' });
  expect(verified).toMatchObject({ valid: false, reason: 'model_not_allowed', tokenId: key.tokenId });
  expect(await km.verify(key.text, { model: 'o1' })).toMatchObject({
    valid: true,
    unlimitedQuota: true,
    expiresAt: expect.any(Number),
  });
  expect((await km.verify('sk-none')).reason).toBe('invalid_key');
});

async function settled(km: Keymeter, key: string): Promise<string> {
  const { reservationId } = await km.reserve(key, { quota: 5 });
  await km.settle(reservationId, { quota: 5 });
  return reservationId;
}

type Call = (km: Keymeter, key: string) => Promise<unknown>;

test.each<[string, number, typeof Refused, Call]>([
  ['reservation_ended', 409, Conflict, async (km, key) => km.release(await settled(km, key))],
  [
    'request_id_reused',
    409,
    Conflict,
    async (km, key) => {
      const requestId = `used ${key.slice(-8)}`;
      await km.charge(key, { quota: 1, requestId });
      await km.charge(key, { quota: 2, requestId });
    },
  ],
  ['reservation_not_found', 404, Conflict, (km) => km.settle('r1.1', { quota: 1 })],
  ['missing_field', 400, BadRequest, (km, key) => km.charge(key, {})],
  ['invalid_quota', 400, BadRequest, (km, key) => km.charge(key, { quota: -1 })],
  ['ambiguous_amount', 400, BadRequest, (km, key) => km.charge(key, { quota: 1, usd: 1 })],
  ['invalid_usd', 400, BadRequest, (km, key) => km.reserve(key, { usd: 10 ** 12 })],
  ['invalid_ttl', 400, BadRequest, (km, key) => km.reserve(key, { quota: 1, ttlSeconds: -1 })],
  [
    'invalid_on_expiry',
    400,
    BadRequest,
    (km, key) => km.reserve(key, { quota: 1, onExpiry: 'keep' as 'charge' }),
  ],
  ['invalid_request_id', 400, BadRequest, (km, key) => km.charge(key, { quota: 1, requestId: '\n' })],
  ['invalid_model', 400, BadRequest, (km, key) => km.charge(key, { quota: 1, model: 'm'.repeat(129) })],
  ['invalid_ip', 400, BadRequest, (km, key) => km.charge(key, { quota: 1, ip: 'here' })],
  ['invalid_count', 400, BadRequest, (km, key) => km.charge(key, { quota: 1, promptTokens: -1 })],
  ['invalid_field', 400, BadRequest, (km, key) => km.charge(key, { quota: '1' as unknown as number })],
  ['invalid_charges', 400, BadRequest, (km) => km.charges([])],
])('a mistake is refused: %s', async (code, status, kind, call) => {
  const key = await (await account()).key();
  const error = await call(client(), key.text).catch((error: unknown) => error);
  expect(error).toBeInstanceOf(kind);
  expect(error).toMatchObject({ code, status });
});

test('a wrong credential is refused', async () => {
  const km = client({ credential: 'kmg_wrong' });
  const error = await km.verify('sk-none').catch((error: unknown) => error);
  expect(error).toBeInstanceOf(InvalidGateway);
  expect(error).toMatchObject({ status: 401, code: 'invalid_gateway' });
});

test('each charge of many succeeds or fails alone', async () => {
  const person = await account();
  const [key, short] = [await person.key(), await person.key(1)];
  const again = { key: key.text, quota: 3, requestId: `again ${key.tokenId}` };
  const outcomes = await client().charges([
    again,
    { key: 'sk-none', quota: 1 },
    { key: short.text, quota: 2 },
    again,
    { key: key.text, quota: 4 },
  ]);
  expect(outcomes[0]).toMatchObject({ charged: 3 });
  expect(outcomes[1]).toBeInstanceOf(InvalidKey);
  expect(outcomes[1]).toMatchObject({ status: 401 });
  expect(outcomes[2]).toBeInstanceOf(QuotaExhausted);
  expect(outcomes[2]).toMatchObject({ status: 402, code: 'token_quota_insufficient' });
  expect(outcomes[3]).toEqual(outcomes[0]);
  expect(outcomes[4]).toMatchObject({ charged: 4 });
  expect(await key.used()).toBe(7);
  const limited = await person.key(undefined, { period_limits: { day: 1 } });
  const [refused] = await client().charges([{ key: limited.text, quota: 2 }]);
  expect(refused).toBeInstanceOf(LimitExceeded);
  expect(refused).toMatchObject({ status: 429, period: 'day', limit: 1, retryAfter: undefined });
});

test('a wrong path is refused', async () => {
  const km = client({ url: `${service.url}/elsewhere` });
  const error = await km.verify('sk-none').catch((error: unknown) => error);
  expect((error as Refused).constructor).toBe(Refused);
  expect(error).toMatchObject({ status: 404, code: 'not_found' });
});

test('an answer that is not of Keymeter permits nothing, and another server gets no credential', async () => {
  let requests = 0;
  const other = createServer((_, response) => {
    requests += 1;
    response.writeHead(307, { location: service.url }).end('moved');
  });
  other.listen(0, '127.0.0.1');
  onTestFinished(() => void other.close());
  await until('it listens', () => other.listening);
  const km = client({ url: `http://127.0.0.1:${(other.address() as AddressInfo).port}` });
  const error = await km.verify('sk-none').catch((error: unknown) => error);
  expect(error).toBeInstanceOf(Unavailable);
  expect(error).toMatchObject({ status: 307, message: expect.stringContaining('is KEYMETER_URL right?') });
  expect(requests).toBe(1);
});
