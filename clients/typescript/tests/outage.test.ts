/** The service is away: nothing is permitted, and nothing that was done is lost. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Keymeter, Unavailable } from '../src/index.ts';
import { client, Lines } from './context.ts';
import { type Account, Administration, Service } from './service.ts';
import { until } from './wait.ts';

// Of its own, because it is killed.
let service: Service;
let account: Account;

beforeAll(async () => {
  service = await Service.started();
  account = await new Administration(service.address).account();
});
afterAll(() => service.end());

const own = (options = {}) => client({ ...service.address, ...options });

function refuses(km: Keymeter, key: string, said: string): Promise<void> {
  const spend = km.spend(key, { quota: 1 }, () => expect.fail('the work began'));
  return expect(spend).rejects.toThrow(said);
}

test('the service is killed while a spend runs, and the settlement arrives', async () => {
  const { log, lines } = new Lines();
  const text = () => lines.map(([, message]) => message).join('\n');
  const [key, other] = [await account.key(100), await account.key(100)];
  const km = own({ log });
  await km.spend(key.text, { quota: 50 }, async (spend) => {
    await service.kill();
    spend.cost({ quota: 20 });
  });
  await refuses(km, key.text, 'no answer from Keymeter (ECONNREFUSED)');
  await expect(km.charge(other.text, { quota: 1 })).rejects.toThrow(Unavailable);
  expect(km.waiting).toBe(1);
  await until('the log counts it', () => text().includes('1 settlements wait'));
  await service.start();
  await until('the settlement arrives', () => km.waiting === 0);
  expect([await key.used(), await other.used()]).toEqual([20, 0]);
  expect(await key.charges()).toHaveLength(1);
  expect(text()).toContain('all settlements were sent');
});

test('a service that does not answer is unavailable in bounded time', async () => {
  const key = await account.key(100);
  const km = own();
  const options = { quota: 1, requestId: `once ${key.tokenId}` };
  service.signal('SIGSTOP');
  try {
    const started = performance.now();
    await expect(km.charge(key.text, options)).rejects.toThrow('no answer from Keymeter (Timeout)');
    // Three tries of two seconds each.
    const seconds = (performance.now() - started) / 1000;
    expect(seconds).toBeGreaterThan(5.5);
    expect(seconds).toBeLessThan(9);
  } finally {
    service.signal('SIGCONT');
  }
  expect((await km.charge(key.text, options)).charged).toBe(1);
  expect(await key.used()).toBe(1);
});

test('when all places are taken new spends are refused, and no settlement is lost', async () => {
  const key = await account.key(100);
  const km = own({ maxSpends: 3 });
  const open = () => km.open(key.text, { quota: 10 });
  const spends = [await open(), await open(), await open()];
  await refuses(km, key.text, '3 requests wait for Keymeter, 0 of them');
  await service.kill();
  try {
    for (const spend of spends) {
      spend.cost({ quota: 7 });
      await spend.end();
    }
    expect(km.waiting).toBe(3);
    await refuses(km, key.text, '3 requests wait for Keymeter, 3 of them');
  } finally {
    await service.start();
  }
  await until('they are settled', () => km.waiting === 0);
  expect(await key.used()).toBe(21);
  await km.spend(key.text, { quota: 9 }, () => undefined);
  expect(await key.used()).toBe(30);
});
