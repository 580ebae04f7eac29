/** How a spend ends. */

import { describe, expect, test } from 'vitest';
import { Conflict, type Cost, QuotaExhausted, type Spend } from '../src/index.ts';
import { account, client, Lines, lossyProxy } from './context.ts';
import { until } from './wait.ts';

test('a cost is settled and adds up', async () => {
  const km = client();
  const key = await (await account()).key(100_000);
  const spend = await km.open(key.text, { usd: '0.1' });
  expect(await key.used()).toBe(50_000);
  expect(spend.reservation.tokenId).toBe(key.tokenId);
  spend.cost({ usd: '0.01', promptTokens: 900, completionTokens: 400 });
  spend.cost({ usd: 0.1 + 0.2 - 0.28 });
  spend.cost({ usd: '0.0000000000004' });
  spend.cost({ quota: 7, completionTokens: 3 });
  expect(spend.usd).toBe('0.030014');
  await spend.end();
  expect(spend.settled).toEqual({
    charged: 15_007,
    shortfall: 0,
    expired: false,
    remainQuota: 84_993,
    pricedBy: 'told',
  });
  const [charge] = await key.charges();
  expect(charge).toMatchObject({ quota: 15_007, prompt_tokens: 900, completion_tokens: 403 });
});

test('parts of a unit add up and are rounded up once', async () => {
  const key = await (await account()).key(100);
  await client().spend(key.text, { quota: 50 }, (spend) => {
    for (let part = 0; part < 10; part += 1) spend.cost({ usd: '0.00000051' });
  });
  expect(await key.used()).toBe(3);
});

test('a cost above the hold is taken as far as the balance reaches', async () => {
  const key = await (await account()).key(100);
  const spend = await client().open(key.text, { quota: 50 });
  spend.cost({ quota: 130 });
  await spend.end();
  expect(spend.settled).toMatchObject({ charged: 100, shortfall: 30 });
});

test('the result of the work is returned', async () => {
  const key = await (await account()).key(100);
  const km = client();
  expect(await km.spend(key.text, { quota: 50 }, async () => 'result')).toBe('result');
  expect(await km.spend(key.text, { quota: 50 }, () => 7)).toBe(7);
});

describe.each(['at once', 'later'])('work that throws %s', (when) => {
  test.each([
    [undefined, 0, 0],
    [20, 20, 1],
  ])('after a cost of %s is charged %s', async (told, used, charges) => {
    const key = await (await account()).key(100);
    const work = client().spend(key.text, { quota: 50 }, (spend) => {
      const fails = () => {
        if (told !== undefined) spend.cost({ quota: told });
        throw new SyntaxError('a defect');
      };
      return when === 'at once' ? fails() : Promise.resolve().then(fails);
    });
    await expect(work).rejects.toThrow(SyntaxError);
    expect(await key.used()).toBe(used);
    expect(await key.charges()).toHaveLength(charges);
  });
});

test('work that throws nothing at all fails too', async () => {
  const key = await (await account()).key(100);
  await client()
    .spend(key.text, { quota: 50 }, () => Promise.reject())
    .then(
      () => expect.fail('it did not fail'),
      (error) => expect(error).toBeUndefined(),
    );
  expect(await key.used()).toBe(0);
});

test('no word of the cost charges the whole hold', async () => {
  const km = client();
  const key = await (await account()).key(100);
  await km.spend(key.text, { quota: 50 }, () => undefined);
  expect(await key.used()).toBe(50);
  await km.spend(key.text, { quota: 10 }, (spend) => spend.extend({ quota: 40 }));
  expect(await key.used()).toBe(90);
});

test('a cost of nothing is free', async () => {
  const key = await (await account()).key(100);
  await client().spend(key.text, { quota: 50 }, (spend) => spend.cost({ usd: 0 }));
  expect(await key.used()).toBe(0);
  expect(await key.charges()).toHaveLength(1);
});

test.each<Record<string, unknown>>([
  {},
  { usd: '1', quota: 1 },
  { usd: undefined },
  { usd: null, quota: null },
  { usd: 'many' },
  { usd: -1 },
  { usd: Number.NaN },
  { usd: 10 ** 9 + 1 },
  { quota: -1 },
  { quota: 0.5 },
  { quota: true },
  { quota: 10n },
  { quota: 1, promptTokens: -1 },
  { quota: 1, completionTokens: 10 ** 12 + 1 },
  { quota: 1, cachedTokens: 1.5 },
  { quota: 1, model: 7 },
  { cachedTokens: 5 },
  { promptTokens: Number.NaN },
])('the cost %o cannot be read and charges at least the hold', async (cost) => {
  const km = client();
  const key = await (await account()).key(100);
  const told = km.spend(key.text, { quota: 50 }, (spend) => {
    spend.cost({ quota: 10 });
    spend.cost(cost as Cost);
  });
  await expect(told).rejects.toThrow(RangeError);
  expect(await key.used()).toBe(50);
  const untold = km.spend(key.text, { quota: 50 }, (spend) => spend.cost(cost as Cost));
  await expect(untold).rejects.toThrow(/must be|give the cost|too large/);
  expect(await key.used()).toBe(100);
});

test('a cost that cannot be read takes nothing from what was told', async () => {
  const key = await (await account()).key(100);
  await client().spend(key.text, { quota: 50 }, (spend) => {
    spend.cost({ quota: 70, promptTokens: 2 });
    expect(() => spend.cost({ quota: 1, promptTokens: -1 })).toThrow(RangeError);
  });
  expect(await key.charges()).toMatchObject([{ quota: 70, prompt_tokens: 2 }]);
});

test('a cost after the end is an error, and a second end has no effect', async () => {
  const key = await (await account()).key(100);
  const spend = await client().open(key.text, { quota: 50 });
  spend.cost({ quota: 1 });
  await spend.end();
  expect(() => spend.cost({ quota: 1 })).toThrow('not charged');
  await spend.end();
  await spend.end(new Error('late'));
  expect(await key.used()).toBe(1);
});

test('a spend that is refused does no work', async () => {
  const key = await (await account()).key(10);
  const spend = client().spend(key.text, { quota: 11 }, () => expect.fail('the work began'));
  await expect(spend).rejects.toThrow(QuotaExhausted);
});

test.each(['settle', 'release'] as const)(
  'a spend whose reservation somebody ended (%s) fails nobody',
  async (end) => {
    const lines = new Lines();
    const km = client({ log: lines.log });
    const key = await (await account()).key(100);
    let id = '';
    await km.spend(key.text, { quota: 50 }, async (spend) => {
      id = spend.reservation.reservationId;
      await (end === 'settle' ? km.settle(id, { quota: 5 }) : km.release(id));
      spend.cost({ quota: 20 });
    });
    expect(lines.text).toContain(`the settlement of ${id} at 0.00004 USD was refused: reservation_ended`);
  },
);

test('forty at once with quota for five', async () => {
  const km = client();
  const key = await (await account()).key(50);
  let decided = 0;
  let goOn = () => {};
  const all = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const works = async () => {
    try {
      return await km.spend(key.text, { quota: 10 }, async (spend) => {
        decided += 1;
        await all;
        spend.cost({ quota: 10 });
        return 'done';
      });
    } catch (error) {
      decided += 1;
      return (error as Error).name;
    }
  };
  const outcomes = Promise.all(Array.from({ length: 40 }, works));
  await until('all are decided', () => decided === 40);
  goOn();
  const names = (await outcomes).sort();
  expect(names).toEqual([...Array(35).fill('QuotaExhausted'), ...Array(5).fill('done')]);
  expect(await key.used()).toBe(50);
});

describe('await using', () => {
  test('charges what was told', async () => {
    const key = await (await account()).key(100);
    const km = client();
    {
      await using spend = await km.open(key.text, { quota: 50 });
      spend.cost({ quota: 20 });
    }
    expect(await key.used()).toBe(20);
  });

  test('charges the hold if nothing was told, as nobody says whether the block threw', async () => {
    const key = await (await account()).key(100);
    const km = client();
    const works = async () => {
      await using _spend = await km.open(key.text, { quota: 50 });
      throw new SyntaxError('a defect');
    };
    await expect(works()).rejects.toThrow(SyntaxError);
    expect(await key.used()).toBe(50);
  });

  test('a generator that is left is charged what was told', async () => {
    const key = await (await account()).key(100);
    const km = client();
    async function* stream(): AsyncGenerator<number> {
      await using spend = await km.open(key.text, { quota: 50 });
      for (let part = 0; part < 10; part += 1) {
        spend.cost({ quota: 5 });
        yield part;
      }
    }
    for await (const part of stream()) if (part === 1) break;
    expect(await key.used()).toBe(10);
  });
});

describe('an abort', () => {
  test.each([
    [20, 20],
    [undefined, 0],
  ])('charges what was told: %s', async (told, used) => {
    const key = await (await account()).key(100);
    const stop = new AbortController();
    const reason = new Error('the client left');
    let spend: Spend | undefined;
    const work = client().spend(key.text, { quota: 50, signal: stop.signal }, (begun) => {
      spend = begun;
      if (told !== undefined) begun.cost({ quota: told });
      // It never ends.
      return new Promise(() => {});
    });
    await until('it began', () => spend !== undefined);
    stop.abort(reason);
    await expect(work).rejects.toBe(reason);
    await until('it ends', async () => (await key.used()) === used);
    expect(() => spend?.cost({ quota: 1 })).toThrow('not charged');
  });

  test('charges what the work tells when it sees the abort itself', async () => {
    const key = await (await account()).key(100);
    const stop = new AbortController();
    const work = client().spend(key.text, { quota: 50, signal: stop.signal }, async (spend) => {
      try {
        await new Promise((_, reject) => {
          stop.signal.addEventListener('abort', () => reject(stop.signal.reason));
          stop.abort();
        });
      } finally {
        spend.cost({ quota: 30 });
      }
    });
    await expect(work).rejects.toThrow('aborted');
    expect(await key.used()).toBe(30);
  });

  test('ends a spend of `await using`', async () => {
    const key = await (await account()).key(100);
    const km = client();
    const stop = new AbortController();
    const works = async () => {
      await using _spend = await km.open(key.text, { quota: 50, signal: stop.signal });
      stop.abort();
      stop.signal.throwIfAborted();
    };
    await expect(works()).rejects.toThrow('aborted');
    expect(await key.used()).toBe(0);
  });

  test('before the beginning holds nothing', async () => {
    const key = await (await account()).key(100);
    const signal = AbortSignal.abort();
    const work = client().spend(key.text, { quota: 50, signal }, () => expect.fail('the work began'));
    await expect(work).rejects.toThrow('aborted');
    expect(await key.used()).toBe(0);
  });

  test('while it begins gives the hold back', async () => {
    const key = await (await account()).key(100);
    const proxy = await lossyProxy();
    const km = client({ url: proxy.url });
    const stop = new AbortController();
    proxy.stalls = true;
    const work = km.spend(key.text, { quota: 50, signal: stop.signal }, () => expect.fail('the work began'));
    await until('it is held', async () => (await key.used()) === 50);
    stop.abort();
    await expect(work).rejects.toThrow('aborted');
    proxy.stalls = false;
    await until('nothing is held', async () => (await key.used()) === 0);
  });

  test('after the end has no effect', async () => {
    const key = await (await account()).key(100);
    const stop = new AbortController();
    const km = client();
    await km.spend(key.text, { quota: 50, signal: stop.signal }, (spend) => spend.cost({ quota: 20 }));
    stop.abort();
    await km.close();
    expect(await key.used()).toBe(20);
  });

  test('of the work and the client together settles first', async () => {
    const key = await (await account()).key(100);
    const stop = new AbortController();
    const km = client();
    let began = false;
    const work = km.spend(key.text, { quota: 50, signal: stop.signal }, (spend) => {
      spend.cost({ quota: 20 });
      began = true;
      return new Promise(() => {});
    });
    await until('it began', () => began);
    stop.abort();
    await expect(work).rejects.toThrow('aborted');
    await km.close();
    expect(await key.used()).toBe(20);
  });
});

describe('a long spend', () => {
  test('renews its hold', async () => {
    const key = await (await account()).key(100);
    const spend = await client().open(key.text, { quota: 50, ttlSeconds: 2 });
    // Without a renewal it has expired by then, and an extension would be refused.
    await until('its time is over', () => Date.now() / 1000 > spend.reservation.expiresAt + 1);
    expect((await spend.extend({ ttlSeconds: 1 })).reserved).toBe(50);
    spend.cost({ quota: 20 });
    await spend.end();
    expect(spend.settled).toMatchObject({ charged: 20, expired: false });
  });

  test('does not renew its hold if it is told so', async () => {
    const key = await (await account()).key(100);
    const spend = await client().open(key.text, { quota: 50, ttlSeconds: 1, renew: false });
    await until('its time is over', () => Date.now() / 1000 > spend.reservation.expiresAt + 1);
    await expect(spend.extend({ ttlSeconds: 1 })).rejects.toThrow(Conflict);
    spend.cost({ quota: 20 });
    await spend.end();
    expect(spend.settled?.charged).toBe(20);
  });

  test('whose hold cannot be renewed is named and goes on', async () => {
    const lines = new Lines();
    const key = await (await account()).key(100);
    const spend = await client({ log: lines.log }).open(key.text, { quota: 50, ttlSeconds: 4 });
    await key.disable();
    await until('it is refused', () => lines.text.includes('is not extended'));
    spend.cost({ quota: 20 });
    await spend.end();
    const { reservationId } = spend.reservation;
    expect(lines.text).toContain(
      `${reservationId} is not extended and may end before its work: token_disabled`,
    );
    expect(await key.used()).toBe(20);
  });
});
