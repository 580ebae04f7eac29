/** Each call. */

import { expect, test } from 'vitest';
import { type Charged, Unavailable, type Usd } from '../src/index.ts';
import { account, client, lossyProxy } from './context.ts';
import { until } from './wait.ts';

test('a charge says whose it is', async () => {
  const person = await account();
  const key = await person.key(100);
  const charged = await client().charge(key.text, {
    quota: 30,
    model: 'gpt-5',
    promptTokens: 9,
    completionTokens: 4,
  });
  expect(charged).toMatchObject({
    charged: 30,
    remainQuota: 70,
    tokenId: key.tokenId,
    userId: person.userId,
    group: 'default',
  });
  expect(charged.name).toMatch(/^key /);
  expect(charged.requestId).toMatch(/^[0-9a-f]{32}$/);
  expect(Object.isFrozen(charged)).toBe(true);
  expect(await key.charges()).toMatchObject([
    { quota: 30, model_name: 'gpt-5', prompt_tokens: 9, completion_tokens: 4 },
  ]);
});

test.each<[Usd, number]>([
  ['0.02', 10_000],
  [2e-6, 1],
  ['0.000002000001', 2],
  [0.1 + 0.2, 150_000],
  [2, 10 ** 6],
  [2n, 10 ** 6],
  [0, 0],
])('%s dollars are charged as %s units', async (usd, quota) => {
  const km = client();
  const key = await (await account()).key();
  expect((await km.charge(key.text, { usd })).charged).toBe(quota);
  const { reservationId, reserved } = await km.reserve(key.text, { usd });
  expect(reserved).toBe(quota);
  expect((await km.settle(reservationId, { usd })).charged).toBe(quota);
  const [outcome] = await km.charges([{ key: key.text, usd }]);
  expect((outcome as Charged).charged).toBe(quota);
  expect((await km.verify(key.text, { usd })).valid).toBe(true);
});

test('a reservation says whose it is, and is settled or released', async () => {
  const km = client();
  const person = await account();
  const key = await person.key(100);
  const options = { quota: 40, ttlSeconds: 60, requestId: `mine ${key.tokenId}` };
  const reservation = await km.reserve(key.text, options);
  expect(reservation).toMatchObject({
    reserved: 40,
    remainQuota: 60,
    requestId: options.requestId,
    tokenId: key.tokenId,
    userId: person.userId,
    group: 'default',
  });
  expect(Math.abs(reservation.expiresAt - Date.now() / 1000 - 60)).toBeLessThan(5);
  expect(await km.reserve(key.text, options)).toEqual(reservation);
  const cost = { quota: 15, promptTokens: 1, completionTokens: 2 };
  const settled = await km.settle(reservation.reservationId, cost);
  expect(settled).toEqual({ charged: 15, shortfall: 0, expired: false, remainQuota: 85, pricedBy: 'told' });
  const other = await km.reserve(key.text, { quota: 85, onExpiry: 'charge' });
  expect(await km.release(other.reservationId)).toEqual({ remainQuota: 85 });
});

test('a hold is extended and never shrinks', async () => {
  const km = client();
  const key = await (await account()).key(100);
  const { reservationId } = await km.reserve(key.text, { quota: 40, ttlSeconds: 60 });
  const extended = await km.extend(reservationId, { quota: 70, ttlSeconds: 600 });
  expect(extended).toMatchObject({ reservationId, reserved: 70, remainQuota: 30 });
  expect(Math.abs(extended.expiresAt - Date.now() / 1000 - 600)).toBeLessThan(5);
  const again = await km.extend(reservationId, { usd: '0.000002', ttlSeconds: 1 });
  expect(again).toMatchObject({ reserved: 70, expiresAt: extended.expiresAt });
  expect((await km.release(reservationId)).remainQuota).toBe(100);
});

test('a lost answer charges and holds once', async () => {
  const key = await (await account()).key(100);
  const proxy = await lossyProxy();
  const km = client({ url: proxy.url });
  proxy.lose = 2;
  expect((await km.charge(key.text, { quota: 10 })).charged).toBe(10);
  expect(await key.used()).toBe(10);
  proxy.lose = 2;
  await km.charges([
    { key: key.text, quota: 5 },
    { key: key.text, quota: 5 },
  ]);
  expect(await key.used()).toBe(20);
  proxy.lose = 2;
  const { reservationId } = await km.reserve(key.text, { quota: 30 });
  expect(await key.used()).toBe(50);
  proxy.lose = 2;
  expect((await km.settle(reservationId, { quota: 5 })).charged).toBe(5);
  expect(await key.used()).toBe(25);
  expect(proxy.lost).toBe(8);
  proxy.lose = 3;
  const error = await km.charge(key.text, { quota: 1 }).catch((error: unknown) => error);
  expect(error).toBeInstanceOf(Unavailable);
  expect(error).toMatchObject({ sent: true });
  expect(proxy.lose).toBe(0);
});

test('a reservation whose answer was lost for good is released', async () => {
  const key = await (await account()).key(100);
  const proxy = await lossyProxy();
  const km = client({ url: proxy.url });
  proxy.lose = 3;
  const spend = km.spend(key.text, { quota: 30, onExpiry: 'charge' }, () => expect.fail('the work began'));
  await expect(spend).rejects.toThrow(Unavailable);
  await until('the hold is given back', async () => (await key.used()) === 0);
});

test('what is no number is not sent', async () => {
  const km = client();
  const key = await (await account()).key(100);
  await expect(km.charge(key.text, { quota: Number.NaN })).rejects.toThrow('quota must be a number');
  await expect(km.charge(key.text, { usd: 'many' })).rejects.toThrow('usd must be an amount');
  const amount = 1n as unknown as number;
  await expect(km.charge(key.text, { quota: amount })).rejects.toThrow(TypeError);
  await expect(km.open(key.text, { quota: amount })).rejects.toThrow(TypeError);
  expect(km.waiting).toBe(0);
  expect(await key.used()).toBe(0);
});

test('an abort ends each call', async () => {
  const key = await (await account()).key(100);
  const proxy = await lossyProxy();
  const km = client({ url: proxy.url });
  const reason = new Error('enough');
  proxy.stalls = true;
  for (const call of [
    (signal: AbortSignal) => km.verify(key.text, { signal }),
    (signal: AbortSignal) => km.charge(key.text, { quota: 1, signal }),
    (signal: AbortSignal) => km.charges([{ key: key.text, quota: 1 }], { signal }),
    (signal: AbortSignal) => km.reserve(key.text, { quota: 1, signal }),
    (signal: AbortSignal) => km.extend('r1.1', { quota: 1, signal }),
    (signal: AbortSignal) => km.settle('r1.1', { quota: 1, signal }),
    (signal: AbortSignal) => km.release('r1.1', { signal }),
  ]) {
    const stop = new AbortController();
    const asked = call(stop.signal);
    stop.abort(reason);
    await expect(asked).rejects.toBe(reason);
    await expect(call(AbortSignal.abort(reason))).rejects.toBe(reason);
  }
  proxy.stalls = false;
});
