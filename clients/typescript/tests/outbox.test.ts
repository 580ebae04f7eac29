/** Settlements that cannot be sent at once: they wait, are counted, and are sent before the client is closed. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { type Keymeter, Unavailable } from '../src/index.ts';
import { account, client, Lines, lossyProxy, service } from './context.ts';
import { freePort } from './service.ts';
import { until } from './wait.ts';

function refuses(km: Keymeter, key: string, said: string): Promise<void> {
  const spend = km.spend(key, { quota: 1 }, () => expect.fail('the work began'));
  return expect(spend).rejects.toThrow(said);
}

test('a settlement that is refused in the background is named and holds up no other', async () => {
  const lines = new Lines();
  const key = await (await account()).key(100);
  const proxy = await lossyProxy();
  const km = client({ url: proxy.url, log: lines.log });
  const first = await km.open(key.text, { quota: 30 });
  const second = await km.open(key.text, { quota: 30 });
  // The first try, and the first in the background, of the first; the first of the second.
  proxy.drop = 3;
  for (const spend of [first, second]) {
    spend.cost({ quota: 20 });
    await spend.end();
  }
  const { reservationId } = first.reservation;
  await client().release(reservationId);
  await until('both have ended', () => km.waiting === 0);
  expect(lines.text).toContain(
    `the settlement of ${reservationId} at 0.00004 USD was refused: reservation_ended`,
  );
  expect([await key.used(), first.settled]).toEqual([20, undefined]);
  expect(second.settled?.charged).toBe(20);
});

test('of reservations without an answer only a few wait', async () => {
  const lines = new Lines();
  const key = await (await account()).key(100);
  const proxy = await lossyProxy();
  const km = client({ url: proxy.url, log: lines.log, maxSpends: 10 });
  proxy.lose = 100;
  for (const waiting of [1, 2, 2, 2]) {
    await refuses(km, key.text, 'no answer');
    expect(km.waiting).toBe(waiting);
  }
  const said = 'a reservation without an answer ends by itself, as its on_expiry says';
  expect(lines.lines.filter((line) => line[1] === said)).toEqual([
    ['warn', said],
    ['debug', said],
  ]);
  proxy.lose = 0;
  await until('they are released', () => km.waiting === 0);
  // Two are left.
  expect(await key.used()).toBe(2);
  const spends = [];
  for (let number = 0; number < 10; number += 1) spends.push(await km.open(key.text, { quota: 1 }));
  for (const spend of spends) await spend.end();
});

test('closing waits for settlements', async () => {
  const key = await (await account()).key(100);
  const proxy = await lossyProxy();
  const km = client({ url: proxy.url });
  const spend = await km.open(key.text, { quota: 50 });
  spend.cost({ quota: 20 });
  // The first try, and two in the background.
  proxy.lose = 3;
  await spend.end();
  expect(km.waiting).toBe(1);
  await km.close();
  expect(await key.used()).toBe(20);
  expect(spend.settled?.charged).toBe(20);
  expect(proxy.lost).toBe(3);
});

test('closing gives up after five seconds and says so', async () => {
  const lines = new Lines();
  const key = await (await account()).key(100);
  const proxy = await lossyProxy();
  const km = client({ url: proxy.url, log: lines.log });
  const late = await km.open(key.text, { quota: 1 });
  await km.spend(key.text, { quota: 20 }, () => proxy.close());
  const started = performance.now();
  await km.close();
  const seconds = (performance.now() - started) / 1000;
  expect(seconds).toBeGreaterThan(4.5);
  expect(seconds).toBeLessThan(8);
  expect(lines.text).toContain('1 settlements were not sent: these reservations end as their on_expiry says');
  await late.end();
  const { reservationId } = late.reservation;
  expect(lines.text).toContain(
    `the settlement of ${reservationId} at 0.000002 USD was not sent, because the client was closed`,
  );
  await expect(km.charge(key.text, { quota: 1 })).rejects.toThrow('this client was closed');
  await expect(km.open(key.text, { quota: 1 })).rejects.toThrow('this client was closed');
  expect(km.waiting).toBe(0);
});

test('a program that ends with its answer can wait for settlements', async () => {
  const key = await (await account()).key(100);
  const proxy = await lossyProxy();
  const running: Promise<void>[] = [];
  const km = client({ url: proxy.url, waitUntil: (promise) => running.push(promise) });
  await km.spend(key.text, { quota: 50 }, (spend) => {
    spend.cost({ quota: 20 });
    // The first try, and one in the background.
    proxy.drop = 2;
  });
  expect(km.waiting).toBe(1);
  expect(running).toHaveLength(2);
  await Promise.all(running);
  expect(await key.used()).toBe(20);
});

test('a program that ends without closing sends its settlements', async () => {
  const key = await (await account()).key(100);
  const proxy = await lossyProxy();
  proxy.keep = 1;
  proxy.drop = 1;
  const program = `
import { Keymeter } from './dist/index.mjs';
const [url, credential, key] = process.argv.slice(1);
await new Keymeter({ url, credential, log: () => {} }).spend(key, { quota: 50 }, (spend) => spend.cost({ quota: 20 }));
`;
  const args = ['--input-type=module', '-e', program, proxy.url, service.credential, key.text];
  const cwd = fileURLToPath(new URL('..', import.meta.url));
  const ran = spawn(process.execPath, args, { cwd, stdio: 'inherit' });
  expect(await once(ran, 'exit')).toEqual([0, null]);
  expect([await key.used(), proxy.drop]).toEqual([20, 0]);
});

test('a spend that nobody ends keeps no program running', async () => {
  const key = await (await account()).key(100);
  const program = `
import { Keymeter } from './dist/index.mjs';
const [url, credential, key] = process.argv.slice(1);
await new Keymeter({ url, credential }).open(key, { quota: 50, ttlSeconds: 86_400 });
`;
  const args = ['--input-type=module', '-e', program, service.url, service.credential, key.text];
  const cwd = fileURLToPath(new URL('..', import.meta.url));
  const ran = spawn(process.execPath, args, { cwd, stdio: 'inherit' });
  expect(await once(ran, 'exit')).toEqual([0, null]);
  expect(await key.used()).toBe(50);
});

test('where nobody listens nothing was sent', async () => {
  const km = client({ url: `http://127.0.0.1:${await freePort()}` });
  const error = await km.verify('sk-none').catch((error: unknown) => error);
  expect(error).toBeInstanceOf(Unavailable);
  expect(error).toMatchObject({ sent: false });
  await refuses(km, 'sk-none', 'no answer');
  expect(km.waiting).toBe(0);
});
